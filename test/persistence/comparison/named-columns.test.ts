import { expect } from 'chai'
import { Column, Entity, ManyToOne, OneToMany, PrimaryColumn } from 'typeorm'
import { Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import { migrate } from '../../../lib/migrations/index.js'
import { schemaComparison, tableMigrations } from '../../../lib/persistence/index.js'
import { file, onEachEngine } from '../../migrations/each-engine.js'
import { shopOf } from '../../conformance/naming/shop.js'
import { testDatabase } from '../../support/databases/test-database.js'
import { specimensNamed } from '../../support/entities/specimen.js'

onEachEngine('a live schema beside entities with names of their own', (database, dialect) => {
  const differences = async (exports: Readonly<Record<string, unknown>>) => {
    const made = tableMigrations(exports).map((table, at) => {
      const { up, down } = table.sqlFor(dialect)
      return file(`000${at + 2}_${table.table.replace('.', '_')}`, up, down)
    })
    const files = Object.assign({}, ...made) as Record<string, string>
    await migrate({ url: database().url, files }).up()
    return migrate({ url: database().url, files }).verify(schemaComparison(exports))
  }

  it('is equal where TypeORM names the columns', async () => {
    const { Customer, Order, Warehouse } = shopOf('typeorm')
    expect(await differences({ ...specimensNamed('typeorm'), Customer, Order, Warehouse })).to.deep.equal([])
    const columns = await database().rows(
      `SELECT column_name FROM information_schema.columns WHERE table_name = 'salesOrder' ORDER BY column_name`,
    )
    expect(columns.map((row) => String(Object.values(row as object)[0])).sort()).to.deep.equal([
      ...['accountId', 'customerId', 'id', 'orderNumber', 'ship_to', 'total', 'warehouseCode', 'weight'],
    ])
  })

  it('is equal where tables that refer to one another are in two schemas', async () => {
    const other = dialect === 'mysql' ? await testDatabase('mysql') : undefined
    const [stock, sales] =
      other === undefined
        ? [{ schema: 'stock' }, { schema: 'sales' }]
        : [{ database: new URL(other.url).pathname.slice(1), name: 'depots' }, {}]
    @Resource({ type: 'depot' })
    @Entity({ name: 'things', ...stock })
    @TenantScoped()
    @SoftDeletable()
    class Depot {
      @PrimaryColumn() id!: string
      @Column({ unique: true }) label!: string
      @OneToMany(() => Parcel, (parcel) => parcel.depot) parcels?: Parcel[]
      accountId!: string
      deleteTime?: Date
    }
    @Resource({ type: 'parcel' })
    @Entity({ name: 'things', ...sales })
    @TenantScoped()
    class Parcel {
      @PrimaryColumn() id!: string
      @Column({ unique: true }) label!: string
      @ManyToOne(() => Depot, (depot) => depot.parcels) depot?: Depot
      accountId!: string
    }
    try {
      expect(await differences({ Depot, Parcel })).to.deep.equal([])
    } finally {
      if (other !== undefined) await database().rows('DROP TABLE things')
      await other?.drop()
    }
  })
})
