import { Client } from 'pg'
import { DataSource } from 'typeorm'
import { createTables } from '../../../../lib/persistence/schema/create-tables.js'
import type { EntityClass } from '../../../../lib/resource/resource-model.js'
import { databases, describeOn } from '../../../support/databases/backends.js'
import { applyBaseline } from '../../../support/databases/baseline.js'
import { leftOut } from '../../../support/running/summary.js'
import { testDatabase } from '../../../support/databases/test-database.js'

/** A database with tables of entities, on one server or on several. */
export interface Spread {
  readonly url: string
  /** Distributes the tables of the entities, by the recipe of `docs/guides/scaling.md`. */
  readonly spread: (dataSource: DataSource) => Promise<void>
  readonly drop: () => Promise<void>
}

const address = process.env['ASHLAR_TEST_CITUS_URL'] ?? ''

/** Sends statements, one after the other, on a connection of their own. */
export async function sendTo(url: string, ...texts: readonly string[]): Promise<readonly unknown[][]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    let rows: readonly unknown[][] = []
    for (const text of texts) rows = (await client.query<unknown[]>({ text, rowMode: 'array' })).rows
    return rows
  } finally {
    await client.end()
  }
}

/** Adds the extension to the catalog's list, with nothing behind it. */
export const LISTED = [
  'BEGIN',
  'SET LOCAL allow_system_table_mods = on',
  `INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
   SELECT 99999, 'citus', extowner, extnamespace, extrelocatable, '0' FROM pg_extension WHERE extname = 'plpgsql'`,
  'COMMIT',
]

/** PostgreSQL whose list of extensions has the name. */
async function listed(): Promise<Spread> {
  const { url, drop } = await testDatabase('postgres')
  await sendTo(url, ...LISTED)
  return { url, spread: () => Promise.resolve(), drop }
}

/** PostgreSQL that gets the name into its list of extensions when tables are distributed. */
async function listedLater(): Promise<Spread> {
  const { url, drop } = await testDatabase('postgres')
  return { url, spread: async () => void (await sendTo(url, ...LISTED)), drop }
}

let count = 0

/** A new database on the servers of the cluster. @param isLate - true to create the extension later. */
async function databaseOnCluster(isLate: boolean): Promise<Spread> {
  const name = `ashlar_test_${process.pid}_citus_${++count}`
  const at = (database: string, host?: unknown, port?: unknown) => {
    const url = new URL(address)
    url.pathname = `/${database}`
    if (host !== undefined) [url.hostname, url.port] = [String(host), String(port)]
    return url.href
  }
  const workers = await sendTo(address, 'SELECT node_name, node_port FROM citus_get_active_worker_nodes()')
  const { hostname, port } = new URL(address)
  const nodes = [[hostname, port], ...workers]
  const own = new URL(address).pathname.slice(1)
  for (const [host, number] of nodes) {
    await sendTo(
      at(own, host, number),
      'SET citus.enable_create_database_propagation = off',
      `CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`,
    )
  }
  const extend = async () => {
    for (const [host, number] of nodes) await sendTo(at(name, host, number), 'CREATE EXTENSION citus')
    await sendTo(
      at(name),
      `SELECT citus_set_coordinator_host('${hostname}', ${port || 5432})`,
      ...workers.map(([host, number]) => `SELECT citus_add_node('${String(host)}', ${String(number)})`),
    )
  }
  if (!isLate) await extend()
  return {
    url: at(name),
    spread: async (dataSource) => {
      if (isLate) await extend()
      await spread(dataSource)
    },
    drop: async () => {
      for (const [host, number] of nodes)
        await sendTo(
          at(own, host, number),
          'SET citus.enable_create_database_propagation = off',
          `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`,
        )
    },
  }
}

async function spread(dataSource: DataSource): Promise<void> {
  const tables = dataSource.entityMetadatas.map(({ tablePath, columns }) => ({
    tablePath,
    isShared: !columns.some(({ databaseName }) => databaseName === 'account_id'),
  }))
  // What refers to a table follows it.
  let left = [...tables].sort((a, b) => Number(b.isShared) - Number(a.isShared))
  while (left.length > 0) {
    const waiting: typeof left = []
    let cause: unknown
    for (const table of left) {
      const { tablePath, isShared } = table
      const distribute = isShared
        ? `SELECT create_reference_table('${tablePath}')`
        : `SELECT create_distributed_table('${tablePath}', 'account_id')`
      await sendTo(
        (dataSource.options as { url: string }).url,
        'SET citus.enable_local_reference_table_foreign_keys TO off',
        distribute,
      ).catch((error: unknown) => {
        cause = error
        waiting.push(table)
      })
    }
    if (waiting.length === left.length) throw cause
    left = waiting
  }
}

/** A DataSource on a new database, with its tables distributed. */
export async function opened(
  open: () => Promise<Spread>,
  entities: readonly EntityClass<object>[],
): Promise<{ readonly dataSource: DataSource; readonly close: () => Promise<void> }> {
  const server = await open()
  const { dataSource } = await withTables(server, entities)
  await server.spread(dataSource)
  return {
    dataSource,
    close: async () => {
      await dataSource.destroy()
      await server.drop()
    },
  }
}

/** Replaces the unique indexes of public ids, which have no tenant, by those of the recipe. */
async function withCredentials(dataSource: DataSource): Promise<void> {
  await dataSource.query('CREATE TABLE credential_tenants (public_id text PRIMARY KEY, tenant text NOT NULL)')
  const indexes = await dataSource.query<{ name: string; table: string; column: string }[]>(
    `SELECT i.indexrelid::regclass AS name, i.indrelid::regclass AS table, attname AS column
     FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
     WHERE i.indisunique AND i.indnatts = 1 AND attname LIKE '%public\\_id' AND NOT i.indisprimary`,
  )
  for (const { name, table, column } of indexes)
    await dataSource.query(`DROP INDEX ${name}; CREATE UNIQUE INDEX ON ${table} (account_id, ${column})`)
}

/** A DataSource with tables that are not distributed yet. */
export async function withTables(
  server: Spread,
  entities: readonly EntityClass<object>[],
): Promise<{ readonly dataSource: DataSource }> {
  const dataSource = await new DataSource({
    ...{ type: 'postgres', url: server.url, entities: [...entities], poolSize: 8 },
  }).initialize()
  await applyBaseline(dataSource)
  await createTables(dataSource, entities, 'postgres')
  await withCredentials(dataSource)
  return { dataSource }
}

const postgres = databases.filter(({ name }) => name === 'postgres')

/** Describes a subject on PostgreSQL that lists the extension, and on a cluster if one can be had. */
export function describeDistributed(
  subject: string,
  define: (open: () => Promise<Spread>, isCluster: boolean) => void,
  how: { readonly isLate?: boolean } = {},
): void {
  const isLate = how.isLate === true
  describeOn(subject, postgres, () => {
    describe('if the list of extensions has citus', () => define(isLate ? listedLater : listed, false))
    if (address !== '') describe('on Citus', () => define(() => databaseOnCluster(isLate), true))
    else leftOut(`${subject} on Citus`, 'ASHLAR_TEST_CITUS_URL names no cluster')
  })
}
