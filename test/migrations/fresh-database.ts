import { createConnection } from 'mysql2/promise'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { type Dialect, migrate } from '../../lib/migrations/index.js'
import { copyStrategy } from '../support/databases/test-database.js'
import { serviceUrl } from '../support/running/services.js'

export type Row = Record<string, unknown>

/** A database of a test's own on a real server. */
export interface FreshDatabase {
  readonly dialect: Dialect
  readonly name: string
  readonly url: string
  /** Runs SQL on a connection that stays open until `drop`. */
  rows(sql: string, values?: readonly unknown[]): Promise<Row[]>
  /** Names of the tables of a schema (MySQL: of the database), in order. */
  tables(schema?: string): Promise<readonly string[]>
  /** Ends the connection and leaves the database. */
  close(): Promise<void>
  drop(): Promise<void>
}

/** Tables of the framework and of the engine, in order. */
export const BASELINE: readonly string[] = [
  ...['ashlar_migrations', 'idempotency_keys', 'idempotency_markers', 'operations', 'outbox'],
  ...[
    'outbox_dead_letter',
    'outbox_dispatch_cursor',
    'outbox_leases',
    'tenant_event_policy',
    'tenant_event_seq',
    'tenant_fence',
  ],
]

/** Hands out one database after the other. */
export interface DatabaseSource {
  /** The next one, for which the last one is given up. */
  next(): Promise<FreshDatabase>
  close(): Promise<void>
}

/** Undefined where the run does without the server; the runner has named it then. */
export async function databaseSource(dialect: Dialect, empty: boolean): Promise<DatabaseSource | undefined> {
  const server = serviceUrl(dialect)
  if (server === undefined) return undefined
  if (empty) return oneByOne(() => freshDatabase(server))
  const first = await freshDatabase(server)
  await migrate({ url: first.url, files: {} }).up()
  if (dialect === 'mysql') return { next: () => emptied(first), close: () => first.drop() }
  await first.close()
  const clones = oneByOne(() => freshDatabase(server, first.name))
  return { next: () => clones.next(), close: () => clones.close().then(() => first.drop()) }
}

let made = 0

/** A database without a table, or with everything that `template` has (PostgreSQL). */
export async function freshDatabase(server: string, template?: string): Promise<FreshDatabase> {
  const name = `ashlar_migr_${process.pid}_${++made}`
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.protocol === 'postgres:'
    ? onPostgres(server, url.href, name, template)
    : onMysql(server, url.href, name)
}

function oneByOne(make: () => Promise<FreshDatabase>): DatabaseSource {
  let last: FreshDatabase | undefined
  return {
    next: async () => {
      await last?.drop()
      last = await make()
      return last
    },
    close: async () => last?.drop(),
  }
}

/** MySQL has no templates and is slow to make tables: those of the baseline stay. */
async function emptied(database: FreshDatabase): Promise<FreshDatabase> {
  const { rows } = database
  await rows('ROLLBACK')
  await rows('SET foreign_key_checks = 0')
  for (const table of await database.tables()) {
    if (!BASELINE.includes(table)) {
      await rows(`DROP VIEW IF EXISTS \`${table}\``)
      await rows(`DROP TABLE IF EXISTS \`${table}\``)
    } else if (table === 'ashlar_migrations')
      await rows('DELETE FROM ashlar_migrations WHERE version NOT IN (1, 8001)')
    else await rows(`DELETE FROM ${table}`)
  }
  return database
}

async function onPostgres(
  server: string,
  url: string,
  name: string,
  template?: string,
): Promise<FreshDatabase> {
  const admin = async (sql: string) => {
    const client = new Client(server)
    await client.connect()
    await client.query(sql).finally(() => client.end())
  }
  const copied = template === undefined ? '' : ` TEMPLATE ${template}`
  await admin(`CREATE DATABASE ${name}${copied}${await copyStrategy(server)}`)
  const client = new Client(url)
  client.on('error', () => undefined)
  await client.connect()
  const rows = async (sql: string, values?: readonly unknown[]) =>
    (await client.query<Row>(sql, values && [...values])).rows
  return {
    dialect: 'postgres',
    name,
    url,
    rows,
    tables: async (schema = 'public') =>
      names(
        await rows(
          `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = '${schema}' ORDER BY 1`,
        ),
      ),
    close: () => client.end(),
    drop: async () => {
      await client.end()
      await admin(`DROP DATABASE ${name} WITH (FORCE)`)
    },
  }
}

async function onMysql(server: string, url: string, name: string): Promise<FreshDatabase> {
  const admin = async (sql: string) => {
    const connection = await createConnection(server)
    await connection.query(sql).finally(() => connection.end())
  }
  await admin(`CREATE DATABASE ${name}`)
  const connection = await createConnection({ uri: url, timezone: 'Z' })
  const rows = async (sql: string, values?: readonly unknown[]) => {
    const [found] = await connection.query(sql, values && [...values])
    return Array.isArray(found) ? (found as Row[]) : []
  }
  return {
    dialect: 'mysql',
    name,
    url,
    rows,
    tables: async () =>
      names(
        await rows(
          'SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1',
        ),
      ),
    close: () => connection.end(),
    drop: async () => {
      await connection.end()
      await admin(`DROP DATABASE ${name}`)
    },
  }
}

const names = (rows: readonly Row[]): readonly string[] => rows.map(({ name }) => String(name)).sort()

/** Ends every session of the database but this one's and `except`. */
export async function killSessions(
  { dialect, name, rows }: FreshDatabase,
  { except }: { readonly except: number },
): Promise<void> {
  if (dialect === 'postgres') {
    await rows(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid NOT IN (pg_backend_pid(), ${except})`,
    )
    return
  }
  const sessions = await rows(
    `SELECT ID AS id FROM information_schema.PROCESSLIST
     WHERE DB = '${name}' AND ID NOT IN (CONNECTION_ID(), ${except})`,
  )
  for (const { id } of sessions) await rows(`KILL ${String(id)}`)
}

/** Waits for the server to say so. */
export async function untilRow(
  { dialect, rows }: FreshDatabase,
  sql: string,
  isMeant: (row: Row) => boolean = () => true,
): Promise<Row> {
  for (;;) {
    // Within a transaction PostgreSQL shows the same activity again unless it is told not to.
    if (dialect === 'postgres') await rows('SELECT pg_stat_clear_snapshot()')
    const found = (await rows(sql)).find(isMeant)
    if (found !== undefined) return found
    await pause(BETWEEN_LOOKS_MS[dialect])
  }
}

/** MySQL reads its list of transactions anew where nobody has asked for it within 100 ms. */
const BETWEEN_LOOKS_MS = { postgres: 10, mysql: 150 } as const

/** SQL that finds a session whose statement begins so and waits for a lock. */
export const waitingForLock = ({ dialect }: FreshDatabase, statement: string): string =>
  dialect === 'postgres'
    ? `SELECT 1 FROM pg_stat_activity
       WHERE datname = current_database() AND query LIKE '${statement}%' AND wait_event_type = 'Lock'`
    : `SELECT 1 FROM information_schema.PROCESSLIST
       WHERE DB = DATABASE() AND INFO LIKE '${statement}%' AND STATE LIKE 'Waiting for table metadata lock'`

/** Leaves a transaction open in the way of everything that changes the table; `ROLLBACK` ends it. */
export async function hold({ dialect, rows }: FreshDatabase, table: string): Promise<void> {
  await rows('START TRANSACTION')
  await rows(dialect === 'postgres' ? `LOCK TABLE ${table} IN ROW EXCLUSIVE MODE` : `SELECT * FROM ${table}`)
}
