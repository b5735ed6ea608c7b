import 'reflect-metadata'
import { expect } from 'chai'
import { Column, type ColumnOptions, Entity, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../decorators/index.js'
import { DeclarationError } from '../../../lib/errors.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { problemsOf } from './declarations.js'

function withArray(options: ColumnOptions, isExisting = false) {
  class Note {
    @PrimaryColumn({ length: 40 }) id!: string
    tags!: string[]
  }
  Reflect.defineMetadata('design:type', Array, Note.prototype, 'tags')
  Column({ ...options, array: true })(Note.prototype, 'tags')
  Entity('notes_of_arrays')(Note)
  Resource({ shared: true, ...(isExisting && { existing: true, naming: 'typeorm' as const }) })(Note)
  return Note
}

describe('a column with array: true', () => {
  it('states the type of its elements', () => {
    expect(problemsOf(withArray({ type: String }))).to.deep.equal([
      "tags is an array whose column states no type: write it, as in @Column('text', { array: true })",
    ])
    expect(problemsOf(withArray({ type: 'jsonb' }))).to.deep.equal([
      'tags is an array of jsonb, which cannot hold the elements of its field',
    ])
  })

  it('is stored without a message', () => {
    expect(resourceModel(withArray({ type: 'int' })).fields.map(({ kind }) => kind)).to.include('json')
  })
})

describeOn(
  'a column with array: true on an engine without arrays',
  databases.filter(({ name }) => name === 'sqlite' || name === 'mariadb'),
  (backend) => {
    for (const isExisting of [true, false])
      it(`${isExisting ? 'stops startup of an existing table' : 'warns of it if TypeORM cannot read it'}`, async () => {
        const entity = withArray({ type: 'text' }, isExisting)
        const { dataSource, close } = await backend.open([entity])
        try {
          const start = () => new TypeormRepository(dataSource!, entity)
          if (isExisting) expect(start).to.throw(DeclarationError, 'array: true')
          else {
            const warned = (await start().startUpCheck()).warnings.join().includes('array: true')
            expect(warned).to.equal(backend.name === 'mariadb')
          }
        } finally {
          await close()
        }
      })
  },
)
