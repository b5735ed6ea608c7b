import { expect } from 'chai'
import { Column, type DataSource, Entity, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../decorators/index.js'
import { InvalidArgument } from '../../../lib/errors.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { databases, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'

@Resource({ shared: true })
@Entity('carts')
class Cart {
  @PrimaryColumn() id!: string
  @Column({ nullable: true }) dueTime?: Date
  @Column({ nullable: true }) size?: number
  @Column({ nullable: true }) label?: string
}

const Carts = repositoryOf(Cart)

interface Narrow {
  readonly column: string
  readonly type: string
  readonly held: Partial<Cart>
  readonly refused: readonly Partial<Cart>[]
}

/** A column that an adopted table has, what it holds, and what it does not. */
const NARROW: readonly Narrow[] = [
  ...['timestamp', 'timestamp(3)', 'timestamp(6)'].map((type) => ({
    column: 'due_time',
    type,
    held: { dueTime: new Date('2038-01-19T03:14:07.000Z') },
    refused: ['1969-12-31T23:59:59Z', '2107-01-01T00:00:00Z', '9999-12-31T23:59:59.9Z'].map((time) => ({
      dueTime: new Date(time),
    })),
  })),
  { column: 'size', type: 'smallint', held: { size: 32767 }, refused: [{ size: 32768 }, { size: -32769 }] },
  { column: 'label', type: 'varchar(3)', held: { label: 'abc' }, refused: [{ label: 'abcd' }] },
]

describeOn(
  'a column that somebody made narrower than its field',
  databases.filter(({ name }) => name === 'mariadb' || name === 'mysql8'),
  (backend) => {
    let opened: OpenBackend
    let carts: InstanceType<typeof Carts>

    before(async () => {
      opened = await backend.open([Cart])
      const dataSource = opened.dataSource as DataSource
      await createTables(collated(dataSource, backend), [Cart], opened.database!.dialect.name)
      carts = new Carts(dataSource)
    })
    after(() => opened.close())

    for (const { column, type, held, refused } of NARROW)
      it(`refuses what it cannot hold with the name of the field: ${column} ${type}`, async () => {
        await opened.dataSource?.query(`ALTER TABLE carts MODIFY ${column} ${type} NULL`)
        const { id } = await carts.create(held)
        expect(await carts.get(id)).to.deep.include(held)
        for (const values of refused) {
          const mask = [column] as never
          for (const attempt of [
            () => carts.create(values),
            () => carts.update(id, values, mask),
            () => carts.batchUpdate([{ key: id, entity: values, fieldMask: mask }]),
          ])
            expect(await rejection(attempt(), InvalidArgument, 'its column cannot store')).to.include({
              field: column,
            })
        }
        expect(await carts.get(id)).to.deep.include(held)
      })
  },
)

@Resource({ shared: true, existing: true })
@Entity('racks')
class Rack {
  @PrimaryColumn() id!: string
  @Column({ type: 'smallint', nullable: true }) size?: number
  @Column({ nullable: true }) rows?: number
  @Column({ nullable: true }) label?: string
}

describeOn(
  'a table that is there, with columns narrower than their fields',
  databases.filter(({ name }) => name === 'postgres'),
  (backend) => {
    let opened: OpenBackend
    let racks: InstanceType<ReturnType<typeof repositoryOf<Rack>>>

    before(async () => {
      opened = await backend.open([Rack])
      await opened.dataSource?.query(
        'CREATE TABLE racks (id varchar(255) PRIMARY KEY, size smallint, rows smallint, label varchar(3))',
      )
      racks = new (repositoryOf(Rack))(opened.dataSource as DataSource)
    })
    after(() => opened.close())

    for (const [values, field] of [
      [{ size: 32768 }, 'size'],
      // PostgreSQL does not say which column it is.
      [{ rows: 32768 }, ''],
      [{ label: 'abcd' }, ''],
    ] as const)
      it(`refuses what a column cannot hold: ${JSON.stringify(values)}`, async () => {
        const held = { size: 32767, rows: -32768, label: 'abc' }
        const { id } = await racks.create(held)
        const mask = Object.keys(values) as never
        for (const attempt of [
          () => racks.create(values),
          () => racks.update(id, values, mask),
          () => racks.batchUpdate([{ key: id, entity: values, fieldMask: mask }]),
        ])
          expect(await rejection(attempt(), InvalidArgument)).to.include({ field })
        expect(await racks.get(id)).to.deep.include(held)
      })
  },
)
