import { expect } from 'chai'
import {
  BeforeInsert,
  Column,
  Entity,
  JoinTable,
  ManyToMany,
  OneToOne,
  PrimaryColumn,
  RelationId,
  VirtualColumn,
} from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { InvalidArgument } from '../../../lib/errors.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { backends, describeOn, openWithTables } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'
import { NoteSchema } from '../../support/gen/specimens_pb.js'
import { inAcme } from '../repository/subject.js'

@Entity('pens')
class Pen {
  @PrimaryColumn() id!: string
}

/** Its message has name, text and stars. */
@Resource({ message: NoteSchema, type: 'note' })
@Entity('penned_notes')
@TenantScoped()
class PennedNote {
  @PrimaryColumn() name!: string
  @Column() text!: string
  @Column() stars!: number
  accountId!: string
  @Column() codeword!: string
  @Column('decimal', { default: 0 }) price!: string
  @Column({ type: 'varchar', length: 20, nullable: true, select: false }) draft?: string
  @ManyToMany(() => Pen) @JoinTable() pens?: Pen[]
  @OneToOne(() => Pen) cap?: Pen
  @RelationId((note: PennedNote) => note.pens) penIds?: string[]
  @VirtualColumn({ type: 'int', query: (alias) => `SELECT length(${alias}.text)` }) size?: number
  @BeforeInsert() sign() {
    this.codeword ||= 'by a listener'
  }
}

describe('a property without a field', () => {
  it('is not managed if Ashlar cannot store it, and is a field of code otherwise', () => {
    const model = resourceModel(PennedNote)
    expect(model.fields.map(({ property }) => property).sort()).to.deep.equal(
      ['accountId', 'codeword', 'draft', 'name', 'stars', 'text'].sort(),
    )
    expect(model.internal().columns.map(({ property }) => property)).to.deep.equal(['price'])
    expect(Object.keys(model.columns).sort()).to.deep.equal(['name', 'stars', 'text'])
    expect(model.writable).to.not.include('codeword')
  })
})

describeOn('properties without a field', backends, (backend) => {
  it('are written by code, are kept by a full update, and cannot be named by a client', async () => {
    const opened = await openWithTables(
      { ...backend, open: (entities) => backend.open([...entities, Pen]) },
      [PennedNote],
    )
    const { dataSource } = opened
    const notes = (
      dataSource === undefined
        ? new MemoryRepository(PennedNote)
        : new TypeormRepository(dataSource, PennedNote)
    ) as TypeormRepository<PennedNote>
    try {
      await inAcme(async () => {
        expect(await notes.create({ name: 'a', text: 't', stars: 1 })).to.include({
          codeword: 'by a listener',
        })
        await notes.create({ name: 'b', text: 't', stars: 1, codeword: 'by code' })
        if (dataSource !== undefined)
          await dataSource.query(`UPDATE penned_notes SET price = 7, draft = 'x' WHERE name = 'b'`)
        const { items } = await notes.list({}, { where: filter`codeword = ${'by code'}` })
        expect(items.map(({ name }) => name)).to.deep.equal(['b'])
        const changed = await notes.update('b', Object.assign(new PennedNote(), items[0], { stars: 2 }))
        expect(changed).to.include({ codeword: 'by code', stars: 2 })
        if (dataSource !== undefined) {
          const [row] = await dataSource.query<Record<string, unknown>[]>(
            `SELECT price, draft FROM penned_notes WHERE name = 'b'`,
          )
          expect([Number(row?.['price']), row?.['draft']]).to.deep.equal([7, 'x'])
        }
        for (const text of ['codeword = "by code"', 'price > 1', 'draft = "x"'])
          await rejection(notes.list({ filter: text }), InvalidArgument)
        await rejection(notes.list({ orderBy: 'codeword' }), InvalidArgument)
        await rejection(notes.update('b', { codeword: 'x' } as never, ['price']), InvalidArgument)
      })
    } finally {
      await opened.close()
    }
  })
})
