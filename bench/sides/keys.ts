import pg from 'pg'
import { Column, DataSource, Entity, Index, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm'
import { CreateTime, ETag, Resource, TenantScoped, UpdateTime } from '../../decorators/index.js'
import { RequestContext } from '../../lib/context.js'
import { postgres } from '../../lib/persistence/dialects/postgres.js'
import { repositoryOf } from '../../lib/persistence/repository-of.js'
import { createTable } from '../../lib/persistence/schema/create-table.js'
import { tableOf } from '../../lib/persistence/schema/table-of.js'
import { resourceModel } from '../../lib/resource/resource-model.js'
import type { Side } from '../subject.js'
import { benchUrl, POOL } from './postgres-address.js'
import { filledOnce } from './postgres-data.js'

const DATABASE = 'ashlar_bench_key_types'
const ROWS = 200_000
const TENANTS = 100
/** The number of rows of a side's own tenant, which are written. */
const OWN = 4000

/** The n-th key of a type, in the process and in SQL. */
interface KeyOfType {
  readonly design: unknown
  readonly key: (n: number) => string | number | bigint
  readonly sql: string
}

const uuid = (n: number): string => `0189f7ea-ae2c-7809-8aeb-${n.toString(16).padStart(12, '0')}`
const UUID_SQL = `'0189f7ea-ae2c-7809-8aeb-' || lpad(to_hex(i), 12, '0')`

/**
 * The key types. `text` is the UUID that a repository generates, in a text column. `generated int` is a
 * number that the database generates.
 */
const TYPES = {
  text: { design: String, key: uuid, sql: UUID_SQL },
  uuid: { design: String, key: uuid, sql: `(${UUID_SQL})::uuid` },
  int: { design: Number, key: (n) => n, sql: 'i' },
  bigint: { design: BigInt, key: (n) => 2n ** 53n + BigInt(n), sql: `${2n ** 53n} + i` },
  generated: { design: Number, key: (n) => n, sql: 'i' },
} as const satisfies Readonly<Record<string, KeyOfType>>

function resourceOf(type: keyof typeof TYPES) {
  @Entity(`of_${type}`)
  @TenantScoped()
  @Index(['size'])
  class Keyed {
    id!: string
    accountId!: string
    @Column() title!: string
    @Column('int') size!: number
    @CreateTime() createTime!: Date
    @UpdateTime() updateTime!: Date
    @ETag() etag!: string
  }
  Reflect.defineMetadata('design:type', TYPES[type].design, Keyed.prototype, 'id')
  const column =
    type === 'generated' ? PrimaryGeneratedColumn() : PrimaryColumn(type === 'text' ? 'varchar' : type)
  column(Keyed.prototype, 'id')
  Resource({ type })(Keyed)
  return Keyed
}

const contextOf = (tenant: string) => ({
  context: new RequestContext({ principal: { tenant, subject: 'bench', groups: [], scopes: [] } }),
})

/** Operations on rows whose key has the type in `?type=`. */
export async function setUp(): Promise<Side> {
  const type = new URL(import.meta.url).searchParams.get('type') as keyof typeof TYPES
  const { key }: KeyOfType = TYPES[type]
  await filledOnce(DATABASE, fillTables)
  const entity = resourceOf(type)
  const dataSource = await new DataSource({
    type: 'postgres',
    url: benchUrl(DATABASE),
    entities: [entity],
    poolSize: POOL,
  }).initialize()
  const tenant = `bench-${process.pid}`
  const mine = contextOf(tenant)
  let made = ROWS + OWN
  const newKey = () => key(++made) as string
  const isIdentity = type === 'generated'
  const all = new (repositoryOf(entity))(dataSource, isIdentity ? {} : { newKey })
  const tenants = Array.from({ length: TENANTS }, (_, n) => contextOf(`tenant-${n}`))
  await dataSource.query(fillOf(type, '$1', ROWS + 1, ROWS + OWN), [tenant])
  const own = await dataSource.query<{ id: string; etag: string }[]>(
    `SELECT id, etag FROM of_${type} WHERE account_id = $1 ORDER BY id`,
    [tenant],
  )
  let n = 0
  const row = { title: 'new', size: 7 }
  return {
    operations: {
      async get() {
        const at = 1 + Math.floor(Math.random() * ROWS)
        const { id } = await all.get(key(at) as string, tenants[at % TENANTS])
        if (id !== key(at)) throw new TypeError(String(id))
      },
      async list() {
        const { items } = await all.list({ filter: 'size >= 100' }, tenants[n++ % TENANTS])
        if (items.length !== 50) throw new TypeError('list')
      },
      async create() {
        if ((await all.create(row, mine)).title !== 'new') throw new TypeError('create')
      },
      async 'create, chosen'() {
        if ((await all.create({ id: newKey(), ...row }, mine)).title !== 'new') throw new TypeError('create')
      },
      async update() {
        const at = n++ % OWN
        const { id: generated = '', etag: ifMatch = '' } = own[at] ?? {}
        const id = isIdentity ? generated : (key(ROWS + 1 + at) as string)
        const { etag } = await all.update(id, { title: 'renamed' }, ['title'], { ...mine, ifMatch })
        own[at] = { id, etag }
      },
    },
    async tearDown() {
      await dataSource.query(`DELETE FROM of_${type} WHERE account_id = $1`, [tenant])
      await dataSource.destroy()
    },
  }
}

async function fillTables(): Promise<void> {
  console.error(`filling ${DATABASE}, once`)
  const client = new pg.Client({ connectionString: benchUrl(DATABASE) })
  await client.connect()
  try {
    for (const type of Object.keys(TYPES) as (keyof typeof TYPES)[]) {
      const [create = '', ...indexes] = createTable(
        tableOf(resourceModel(resourceOf(type)), postgres),
        postgres,
      )
      await client.query(create)
      await client.query(fillOf(type, `'tenant-' || i % ${TENANTS}`, 1, ROWS))
      for (const index of indexes) await client.query(index)
      await client.query(`VACUUM ANALYZE of_${type}`)
    }
  } finally {
    await client.end()
  }
}

/** Returns the INSERT for the rows. A generated number is omitted; a new table counts from 1. */
const fillOf = (type: keyof typeof TYPES, tenant: string, from: number, to: number): string =>
  `INSERT INTO of_${type} (${type === 'generated' ? '' : 'id, '}account_id, title, size, create_time, update_time, etag)
   SELECT ${type === 'generated' ? '' : `${TYPES[type].sql}, `}${tenant}, 'row ' || i, (i::bigint * 7919 % 1000)::int, now(), now(), md5(i::text)
   FROM generate_series(${from}, ${to}) i`
