import { createConnection } from 'mysql2/promise'
import { Client } from 'pg'
import type { Dialect } from '../../lib/migrations/index.js'
import { serviceUrl } from '../support/services.js'

export type Row = Record<string, unknown>

/** A database of a test's own on a real server. */
export interface FreshDatabase {
  readonly dialect: Dialect
  readonly url: string
  /** Runs SQL on a connection that stays open until `drop`. */
  rows(sql: string): Promise<Row[]>
  /** Names of the tables of a schema (MySQL: of the database), in order. */
  tables(schema?: string): Promise<readonly string[]>
  drop(): Promise<void>
}

let made = 0

/** Undefined where the run does without the server; the runner has named it then. */
export async function freshDatabase(dialect: Dialect): Promise<FreshDatabase | undefined> {
  const server = serviceUrl(dialect)
  if (server === undefined) return undefined
  const name = `ashlar_migr_${process.pid}_${++made}`
  const url = new URL(server)
  url.pathname = `/${name}`
  return dialect === 'postgres' ? onPostgres(server, url.href, name) : onMysql(server, url.href, name)
}

async function onPostgres(server: string, url: string, name: string): Promise<FreshDatabase> {
  const admin = async (sql: string) => {
    const client = new Client(server)
    await client.connect()
    await client.query(sql).finally(() => client.end())
  }
  await admin(`CREATE DATABASE ${name}`)
  const client = new Client(url)
  client.on('error', () => undefined)
  await client.connect()
  const rows = async (sql: string) => (await client.query<Row>(sql)).rows
  return {
    dialect: 'postgres',
    url,
    rows,
    tables: async (schema = 'public') =>
      names(
        await rows(
          `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = '${schema}' ORDER BY 1`,
        ),
      ),
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
  const rows = async (sql: string) => {
    const [found] = await connection.query(sql)
    return Array.isArray(found) ? (found as Row[]) : []
  }
  return {
    dialect: 'mysql',
    url,
    rows,
    tables: async () =>
      names(
        await rows(
          'SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1',
        ),
      ),
    drop: async () => {
      await connection.end()
      await admin(`DROP DATABASE ${name}`)
    },
  }
}

const names = (rows: readonly Row[]): readonly string[] => rows.map(({ name }) => String(name))
