import { expect } from 'chai'
import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from '../../../../decorators/index.js'
import { lintFiles, migrate } from '../../../../lib/migrations/index.js'
import { schemaComparison, schemaModel } from '../../../../lib/persistence/index.js'
import { Robot } from './entities.js'
import { sendTo, type Spread } from '../../../support/databases/citus/cluster.js'
import { describeDistributed } from './distributed.js'
import { databases, describeOn } from '../../../support/databases/backends.js'
import { testDatabase } from '../../../support/databases/test-database.js'

@Resource({ shared: true })
@Entity('regions')
class Region {
  @PrimaryColumn() id!: string
}

@Resource()
@Entity('shops')
@TenantScoped()
class Shop {
  @PrimaryColumn() id!: string
  @Column() regionId!: string
  @ManyToOne(() => Region) @JoinColumn({ name: 'region_id' }) region?: Region
  accountId!: string
}

@Resource()
@Entity('tills')
@TenantScoped()
class Till {
  @PrimaryColumn() id!: string
  accountId!: string
}

@Resource()
@Entity('tills')
@TenantScoped()
class TillOfShop {
  @PrimaryColumn() id!: string
  @Column({ nullable: true }) shopId?: string
  @ManyToOne(() => Shop, { nullable: true }) @JoinColumn({ name: 'shop_id' }) shop?: Shop
  accountId!: string
}

/** Writes the versions of two models, one after the other, and applies them. */
async function migrated(url: string): Promise<Readonly<Record<string, string>>> {
  const files: Record<string, string> = {}
  const migrator = () => migrate({ url, files })
  await migrator().up()
  for (const entities of [
    [Region, Shop, Till, Robot],
    [Region, Shop, TillOfShop, Robot],
  ]) {
    const { changes } = await migrator().diff(schemaModel(entities, { distribute: 'citus' }))
    for (const { what, up, down } of changes.expand) {
      const name = `${String(Object.keys(files).length / 2 + 2).padStart(4, '0')}_${what}`
      Object.assign(files, { [`${name}.up.sql`]: up, [`${name}.down.sql`]: down })
    }
    await migrator().up()
    expect(await migrator().verify(schemaComparison(entities))).to.deep.equal([])
  }
  return files
}

const KEYS = `SELECT bool_and(convalidated), count(*)::int FROM pg_constraint WHERE contype = 'f' AND conrelid::regclass::text IN ('shops', 'tills')`

describeDistributed('migrations written for Citus', (open, isCluster) => {
  let server: Spread

  before(async () => {
    server = await open()
  })
  after(() => server?.drop())

  if (!isCluster) return
  it('distribute new tables, and add references that are validated', async () => {
    await migrated(server.url)
    const types = await sendTo(
      server.url,
      'SELECT table_name::text, citus_table_type FROM citus_tables ORDER BY 1',
    )
    expect(types).to.deep.equal([
      ['regions', 'reference'],
      ['robots', 'distributed'],
      ['shops', 'distributed'],
      ['tills', 'distributed'],
    ])
    expect(await sendTo(server.url, KEYS)).to.deep.equal([[true, 2]])
  })
})

describeOn(
  'migrations written for Citus, on a database without it',
  databases.filter(({ name }) => name === 'postgres'),
  () => {
    it('create the same tables, and lint accepts them', async () => {
      const { url, drop } = await testDatabase('postgres')
      const files = await migrated(url)
      expect(await sendTo(url, KEYS)).to.deep.equal([[true, 2]])
      expect((await lintFiles(files, 'postgres')).filter(({ level }) => level !== 'advice')).to.deep.equal([])
      const migrator = migrate({ url, files })
      await migrator.down(1)
      expect(await sendTo(url, `SELECT to_regclass('shops')::text`)).to.deep.equal([[null]])
      await drop()
    })
  },
)
