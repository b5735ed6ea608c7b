import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../decorators/index.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { backends, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { collated } from '../../conformance/repository/open-subject.js'

class Measured {
  @Column() big!: bigint
}

@Resource({ shared: true })
@Entity('measures')
class Measure extends Measured {
  @PrimaryColumn() id!: string
  @Column() blob!: Uint8Array
  @Column({ type: String }) spelled!: Uint8Array
  @Column({ nullable: true }) rest?: bigint
  @Column() name!: string
  @Column() size!: number
  @Column() isNew!: boolean
  @Column() at!: Date
}

const BYTES = Uint8Array.from({ length: 256 }, (_, byte) => byte)
const AT = new Date('2026-03-04T05:06:07.089Z')

describe('a column without a type', () => {
  it('has the kind of its property', () => {
    const kinds = Object.fromEntries(
      resourceModel(Measure).fields.map(({ property, kind }) => [property, kind]),
    )
    expect(kinds).to.deep.equal({
      big: 'int64',
      id: 'string',
      blob: 'bytes',
      spelled: 'bytes',
      rest: 'int64',
      name: 'string',
      size: 'int32',
      isNew: 'bool',
      at: 'timestamp',
    })
  })
})

describeOn('a column without a type', backends, (backend) => {
  let opened: OpenBackend
  let measures: InstanceType<ReturnType<typeof repositoryOf<Measure>>>

  before(async () => {
    opened = await backend.open([Measure])
    const { dataSource, database } = opened
    if (dataSource === undefined || database === undefined) {
      measures = new (memoryRepositoryOf(Measure))() as never
      return
    }
    await createTables(collated(dataSource, backend), [Measure], database.dialect.name)
    measures = new (repositoryOf(Measure))(dataSource)
  })
  after(() => opened.close())

  it('keeps what is written to it', async () => {
    const whole = {
      blob: BYTES,
      spelled: BYTES,
      big: 2n ** 63n - 1n,
      name: 'n',
      size: 7,
      isNew: true,
      at: AT,
    }
    await measures.create({ ...whole, id: 'a', rest: -(2n ** 63n) })
    await measures.create({ ...whole, id: 'b', blob: new Uint8Array(), big: 0n })
    const [a, b] = await measures.batchGet(['a', 'b'])
    expect({ ...a }).to.deep.equal({ ...whole, id: 'a', rest: -(2n ** 63n) })
    expect(b?.blob).to.deep.equal(new Uint8Array())
    expect(b?.rest).to.equal(undefined)
    const changed = await measures.update('b', { blob: BYTES.slice(3, 5), big: 9007199254740993n }, [
      'blob',
      'big',
    ])
    expect(changed).to.include({ big: 9007199254740993n })
    expect(changed.blob).to.deep.equal(new Uint8Array([3, 4]))
    const { items } = await measures.list({ filter: 'big > 1', orderBy: 'big desc' })
    expect(items.map(({ id }) => id)).to.deep.equal(['a', 'b'])
  })
})
