import { expect } from 'chai'
import { Column, Entity, Generated, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm'
import { Resource } from '../../../decorators/index.js'
import { InvalidArgument } from '../../../lib/errors.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { backends, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'
import { collated } from '../repository/open-subject.js'

@Resource({ shared: true })
@Entity('minted_orders')
class Order {
  @PrimaryGeneratedColumn('uuid') id!: string
  @Generated('uuid') @Column('uuid') ticket!: string
}

@Resource({ shared: true })
@Entity('minted_parcels')
class Parcel {
  @Generated('uuid') @PrimaryColumn({ type: 'binary', length: 16 }) id!: string
}

@Resource({ shared: true })
@Entity('chosen_counters')
class Counter {
  @PrimaryColumn('bigint') id!: bigint
}

@Resource({ shared: true })
@Entity('chosen_codes')
class Code {
  @PrimaryColumn({ type: 'varchar', length: 35 }) id!: string
}

const ENTITIES = [Order, Parcel, Counter, Code]
const [V7, V4] = [
  /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/,
  /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]/,
]

describeOn('a minted key', backends, (backend) => {
  let opened: OpenBackend
  const on = <E extends object>(entity: new () => E) =>
    opened.dataSource === undefined
      ? new (memoryRepositoryOf(entity))()
      : new (repositoryOf(entity))(opened.dataSource)

  before(async () => {
    opened = await backend.open(ENTITIES)
    const { dataSource, database } = opened
    if (dataSource !== undefined && database !== undefined)
      await createTables(collated(dataSource, backend), ENTITIES, database.dialect.name)
  })
  after(() => opened.close())

  it('is a UUID in the order of time, of which the repository makes one', async () => {
    const orders = on(Order)
    const made = await orders.create({})
    expect(made.id).to.match(V7)
    expect(made.ticket).to.match(V4)
    expect(await orders.get(made.id)).to.deep.equal(made)
    const parcels = on(Parcel)
    const parcel = await parcels.create({})
    expect(await parcels.get(parcel.id)).to.deep.equal(parcel)
    expect(parcel.id).to.match(V7)
  })

  it('may be chosen all the same', async () => {
    const id = '0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f'
    expect(await on(Order).create({ id })).to.include({ id })
    await rejection(on(Order).create({ id: id.toUpperCase() }), InvalidArgument, id)
  })

  it('is none where the column is too short for one', async () => {
    await rejection(on(Code).create({}), InvalidArgument, 'id: is required')
    expect(await on(Code).create({ id: 'EUR' })).to.include({ id: 'EUR' })
  })

  it('of a number is chosen, or made by newKey', async () => {
    await rejection(on(Counter).create({}), InvalidArgument, 'id: is required')
    const options = { newKey: () => 12n }
    const counters =
      opened.dataSource === undefined
        ? new (memoryRepositoryOf(Counter))(options)
        : new (repositoryOf(Counter))(opened.dataSource, options)
    expect(await counters.create({})).to.include({ id: 12n })
    expect(await counters.get(12n)).to.include({ id: 12n })
  })
})
