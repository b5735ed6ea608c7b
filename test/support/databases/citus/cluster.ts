import { Client } from 'pg'
import type { DataSource } from 'typeorm'

/** A database with tables of entities, on one server or on several. */
export interface Spread {
  readonly url: string
  /** Distributes the tables of the entities, by the recipe of `docs/guides/scaling.md`. */
  readonly spread: (dataSource: DataSource) => Promise<void>
  readonly drop: () => Promise<void>
}

const named = process.env['ASHLAR_TEST_CITUS_URL'] ?? 'absent'

/** The address of a cluster's coordinator, or an empty string. */
export const clusterAddress = named === 'absent' ? '' : named

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

let count = 0

/**
 * Creates a database on the servers of the cluster.
 *
 * @param isLate - true to create the extension when the tables are distributed. Default: false.
 * @param settings - the settings with which each of its sessions begins.
 */
export async function databaseOnCluster(
  isLate = false,
  settings: Readonly<Record<string, string>> = {},
): Promise<Spread> {
  const name = `ashlar_test_${process.pid}_citus_${++count}`
  const at = (database: string, host?: unknown, port?: unknown) => {
    const url = new URL(clusterAddress)
    url.pathname = `/${database}`
    if (host !== undefined) [url.hostname, url.port] = [String(host), String(port)]
    return url.href
  }
  const workers = await sendTo(
    clusterAddress,
    'SELECT node_name, node_port FROM citus_get_active_worker_nodes()',
  )
  const { hostname, port } = new URL(clusterAddress)
  const nodes = [[hostname, port], ...workers]
  const own = new URL(clusterAddress).pathname.slice(1)
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
  for (const [setting, value] of Object.entries(settings))
    await sendTo(at(own), `ALTER DATABASE ${name} SET ${setting} = '${value}'`)
  return {
    url: at(name),
    spread: async (dataSource) => {
      if (isLate) await extend()
      await withCredentials(dataSource)
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

/**
 * Distributes the tables, those first that others refer to. A primary key without the tenant gets it if
 * others refer to the table, which else stays on the coordinator. Foreign keys between tables that refer to
 * each other are removed and created again.
 */
async function spread(dataSource: DataSource): Promise<void> {
  const { url } = dataSource.options as { url: string }
  const all = dataSource.entityMetadatas
  const isTarget = (table: string) =>
    all.some(({ foreignKeys }) => foreignKeys.some((key) => key.referencedTablePath === table))
  const tables: { readonly tablePath: string; readonly isShared: boolean; readonly how: string }[] = []
  for (const { tablePath, columns, primaryColumns } of all) {
    const isShared = !columns.some(isTenant)
    const isKeyed = isShared || primaryColumns.some(isTenant)
    if (!isKeyed && !isTarget(tablePath)) continue
    const key = primaryColumns.map(({ databaseName }) => databaseName).join()
    if (!isKeyed)
      await sendTo(
        url,
        `ALTER TABLE ${tablePath} DROP CONSTRAINT ${tablePath}_pkey, ADD PRIMARY KEY (account_id, ${key})`,
      )
    const how = isShared
      ? `create_reference_table('${tablePath}')`
      : `create_distributed_table('${tablePath}', 'account_id')`
    tables.push({ tablePath, isShared, how })
  }
  let left = [...tables].sort((a, b) => Number(b.isShared) - Number(a.isShared))
  const removed: string[] = []
  while (left.length > 0) {
    const waiting: typeof left = []
    let cause: unknown
    for (const table of left)
      await sendTo(
        url,
        'SET citus.enable_local_reference_table_foreign_keys TO off',
        `SELECT ${table.how}`,
      ).catch((error: unknown) => {
        cause = error
        waiting.push(table)
      })
    if (waiting.length === left.length) {
      const keys = await sendTo(url, keysAmong(waiting.map(({ tablePath }) => tablePath)))
      if (keys.length === 0) throw cause
      for (const [table, name, definition] of keys as string[][]) {
        await sendTo(url, `ALTER TABLE ${table} DROP CONSTRAINT ${name}`)
        removed.push(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`)
      }
    }
    left = waiting
  }
  if (removed.length > 0) await sendTo(url, ...removed)
}

const isTenant = ({ databaseName }: { readonly databaseName: string }) => databaseName === 'account_id'

/** Selects the foreign keys between some tables: table, name, and definition. */
const keysAmong = (tables: readonly string[]) => {
  const among = tables.map((table) => `'${table}'::regclass`).join()
  return `SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid) FROM pg_constraint
    WHERE contype = 'f' AND conrelid IN (${among}) AND confrelid IN (${among}) AND conrelid <> confrelid`
}

/** Replaces the unique indexes of public ids, which have no tenant, by those of the recipe. */
export async function withCredentials(dataSource: DataSource): Promise<void> {
  await dataSource.query(
    'CREATE TABLE IF NOT EXISTS credential_tenants (public_id text PRIMARY KEY, tenant text NOT NULL)',
  )
  const indexes = await dataSource.query<{ name: string; table: string; column: string }[]>(
    `SELECT i.indexrelid::regclass AS name, i.indrelid::regclass AS table, attname AS column
     FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
     WHERE i.indisunique AND i.indnatts = 1 AND attname LIKE '%public\\_id' AND NOT i.indisprimary`,
  )
  for (const { name, table, column } of indexes)
    await dataSource.query(`DROP INDEX ${name}; CREATE UNIQUE INDEX ON ${table} (account_id, ${column})`)
}
