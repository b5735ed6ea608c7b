import pg from 'pg'
import { Widget } from '../../examples/widgets/widget.js'
import { createTable } from '../../lib/persistence/schema/create-table.js'
import { tableOf } from '../../lib/persistence/schema/table-of.js'
import { resourceModel } from '../../lib/resource/resource-model.js'
import { postgres } from '../../lib/persistence/dialects/postgres.js'
import { benchUrl, DATABASE, SERVER } from './postgres-address.js'

const ROWS = 1_000_000
const TENANTS = 100
export const tenantOf = (n: number): string => `acct-${String(n % TENANTS).padStart(3, '0')}`
/** Returns the n-th key of the table, which belongs to tenant n % 100. */
export const keyOf = (n: number): string => `w${String(n).padStart(7, '0')}`

/** Returns a live row. Every twentieth row of a tenant is soft-deleted. */
export function randomRow(): { readonly tenant: string; readonly key: string } {
  for (;;) {
    const n = 1 + Math.floor(Math.random() * ROWS)
    if (Math.floor(n / TENANTS) % 20 !== 7) return { tenant: tenantOf(n), key: keyOf(n) }
  }
}

/** Returns live keys of one tenant. */
export function randomKeys(count: number): { readonly tenant: string; readonly keys: string[] } {
  const tenant = Math.floor(Math.random() * TENANTS)
  const keys: string[] = []
  for (let n = tenant + TENANTS * (1 + Math.floor(Math.random() * 5000)); keys.length < count; n += TENANTS)
    if (Math.floor(n / TENANTS) % 20 !== 7) keys.push(keyOf(n))
  return { tenant: tenantOf(tenant), keys }
}

/** Creates the database and fills it with a million rows, once. */
export const fill = (): Promise<void> => filledOnce(DATABASE, fillDatabase)

/** Creates and fills a database once. Concurrent callers wait. */
export async function filledOnce(database: string, fillIt: () => Promise<void>): Promise<void> {
  const server = new pg.Client({ connectionString: SERVER })
  await server.connect()
  try {
    await server.query('SELECT pg_advisory_lock(4711)')
    const { rowCount } = await server.query('SELECT 1 FROM pg_database WHERE datname = $1', [database])
    if (rowCount === 0) {
      await server.query(`CREATE DATABASE ${database}`)
      await fillIt().catch(async (error: unknown) => {
        await server.query(`DROP DATABASE ${database}`)
        throw error
      })
    }
  } finally {
    await server.end()
  }
}

async function fillDatabase(): Promise<void> {
  console.error(`filling ${DATABASE} with ${ROWS} rows, once`)
  const client = new pg.Client({ connectionString: benchUrl() })
  await client.connect()
  try {
    const [create = '', ...indexes] = createTable(tableOf(resourceModel(Widget), postgres), postgres)
    await client.query(create)
    await client.query(`
      INSERT INTO widgets (id, account_id, display_name, description, size, price, state, tags, create_time, update_time, deleted_at, etag)
      SELECT 'w' || lpad(i::text, 7, '0'), 'acct-' || lpad((i % ${TENANTS})::text, 3, '0'), 'widget ' || i,
        'A new red widget made of steel, number ' || i || ' of a long series', (i::bigint * 7919 % 1000)::int, (i::bigint * 31 % 100000) / 100.0,
        (ARRAY['ACTIVE', 'DRAFT', 'RETIRED', 'ACTIVE', 'ACTIVE'])[1 + (i / 100) % 5],
        jsonb_build_object('env', (ARRAY['prod', 'dev', 'test'])[1 + i % 3], 'team', 't' || (i % 17)),
        timestamptz '2024-01-01' + i * interval '1 second', timestamptz '2024-01-01' + i * interval '1 second',
        CASE WHEN (i / ${TENANTS}) % 20 = 7 THEN timestamptz '2025-01-01' END, md5('e' || i)
      FROM generate_series(1, ${ROWS}) i`)
    for (const index of indexes) await client.query(index)
    await client.query('VACUUM ANALYZE widgets')
  } finally {
    await client.end()
  }
}

/** Returns a separate tenant for the writes of a side. Its rows are removed at the end. */
export const ownTenant = (side: string): string => `bench-${side}-${process.pid}`
/** Enough rows that concurrent batches share none. */
const OWN_ROWS = 16_000

/** A row that may be written, and its current etag. */
export interface OwnRow {
  readonly id: string
  etag: string
}

/** Creates the rows of a tenant. */
export async function fillOwn(tenant: string): Promise<OwnRow[]> {
  const client = new pg.Client({ connectionString: benchUrl() })
  await client.connect()
  try {
    const { rows } = await client.query<OwnRow>(
      `INSERT INTO widgets (id, account_id, display_name, description, size, price, state, tags, create_time, update_time, etag)
       SELECT 'own' || lpad(i::text, 5, '0'), $1, 'own', 'A new red widget', i, 9.5, 'ACTIVE', '{"env": "prod", "team": "t1"}', now(), now(), md5('own' || i)
       FROM generate_series(1, ${OWN_ROWS}) i RETURNING id, etag`,
      [tenant],
    )
    return rows
  } finally {
    await client.end()
  }
}

/** Returns the n-th batch of a thousand rows. */
export const ownBatch = (own: readonly OwnRow[], n: number): readonly OwnRow[] =>
  own.slice((n * 1000) % OWN_ROWS, ((n * 1000) % OWN_ROWS) + 1000)
