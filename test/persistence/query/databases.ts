import { createConnection } from 'mysql2/promise'
import { Client } from 'pg'
import sqlite3 from 'sqlite3'
import type { Dialect, DialectName } from '../../../lib/persistence/dialects/dialect.js'
import { dialectNamed } from '../../../lib/persistence/dialects/dialect-named.js'
import type { PlanValue } from '../../../lib/persistence/query/query-plan.js'
import { serviceUrl } from '../../support/running/services.js'
import { COLUMNS, FIELDS, type FieldName, type Row } from './specimen-rows.js'

/** A database with an empty table `specimens` of its own, which goes with the connection. */
export interface SpecimenDatabase {
  readonly dialect: Dialect
  fill(rows: readonly Row[]): Promise<void>
  /** Ids of the rows for which `condition` holds, in `order`. */
  ids(condition: string, params: readonly unknown[], order?: string, limit?: number): Promise<string[]>
  close(): Promise<void>
}

/** How to reach each database; undefined when this run does without it. */
export const DATABASES: readonly (readonly [
  name: string,
  open: () => Promise<SpecimenDatabase> | undefined,
])[] = [
  ['sqlite', () => open('sqlite', openSqlite())],
  ['postgres', () => withUrl('postgres', (url) => open('postgres', openPostgres(url)))],
  ['mariadb', () => withUrl('mysql', (url) => open('mariadb', openMysql(url)))],
  ['mariadb as mysql', () => withUrl('mysql', (url) => open('mysql', openMysql(url)))],
]

/** Answers the first column of the rows. */
interface Connection {
  query(sql: string, params: readonly unknown[]): Promise<unknown[]>
  close(): Promise<void>
}

const withUrl = <T>(service: 'postgres' | 'mysql', use: (url: string) => T): T | undefined => {
  const url = serviceUrl(service)
  return url === undefined ? undefined : use(url)
}

const TEXT_TYPE: Readonly<Record<DialectName, string>> = {
  postgres: 'text COLLATE "C"',
  mysql: 'longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin',
  mariadb: 'longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin',
  sqlite: 'text',
}
/** PostgreSQL, MySQL and SQLite. */
const TYPES = {
  bool: ['boolean', 'tinyint(1)', 'integer'],
  int32: ['integer', 'int', 'integer'],
  uint32: ['bigint', 'int unsigned', 'integer'],
  int64: ['bigint', 'bigint', 'integer'],
  uint64: ['numeric(20)', 'bigint unsigned', 'integer'],
  float: ['real', 'float', 'real'],
  double: ['double precision', 'double', 'real'],
  timestamp: ['timestamptz', 'datetime(6)', 'text'],
  duration: ['bigint', 'bigint', 'integer'],
  uuid: ['uuid', 'varchar(36)', 'text'],
  date: ['date', 'date', 'text'],
  bytes: ['bytea', 'longblob', 'blob'],
  json: ['jsonb', 'json', 'text'],
  tags: ['jsonb', 'json', 'text'],
} as const

const typeOf = (name: FieldName, dialect: DialectName): string => {
  const { kind } = COLUMNS[name]
  if (kind === 'string' || kind === 'enum') return TEXT_TYPE[dialect]
  return TYPES[kind][dialect === 'postgres' ? 0 : dialect === 'sqlite' ? 2 : 1]
}

async function open(name: DialectName, opening: Promise<Connection>): Promise<SpecimenDatabase> {
  const connection = await opening
  const dialect = dialectNamed(name)
  const {
    text: { quote },
  } = dialect
  const declared = FIELDS.map((name) => {
    const { column, nullable } = COLUMNS[name]
    return `${quote(column)} ${typeOf(name, dialect.name)}${nullable ? '' : ' NOT NULL'}`
  })
  await connection.query(`CREATE TEMPORARY TABLE specimens (${declared.join(', ')})`, [])
  const placeholders = FIELDS.map((name, i) =>
    dialect.values.kinds[COLUMNS[name].kind].placeholder(COLUMNS[name], i + 1),
  )
  return {
    dialect,
    fill: async (rows) => {
      await connection.query('DELETE FROM specimens', [])
      for (const row of rows) {
        const values = FIELDS.map((name) => stored(name, row[name], dialect))
        await connection.query(`INSERT INTO specimens VALUES (${placeholders.join(', ')})`, values)
      }
    },
    ids: async (condition, params, order, limit) => {
      const ordered = order === undefined ? '' : ` ORDER BY ${order}`
      const limited = limit === undefined ? '' : ` LIMIT ${limit}`
      const id = quote(COLUMNS.id.column)
      const sql = `SELECT ${id} FROM specimens WHERE ${condition}${ordered}${limited}`
      return (await connection.query(sql, params)) as string[]
    },
    close: () => connection.close(),
  }
}

const stored = (name: FieldName, value: unknown, dialect: Dialect): unknown => {
  if (value === undefined) return null
  if (name === 'tags') return JSON.stringify(value)
  if (name === 'state') return COLUMNS.state.enumNames.nameOf.get(value as number)
  return dialect.values.kinds[COLUMNS[name].kind].value(value as PlanValue, COLUMNS[name])
}

async function openSqlite(): Promise<Connection> {
  const database = await new Promise<sqlite3.Database>((resolve, reject) => {
    const opened = new sqlite3.Database(':memory:', (error) =>
      error === null ? resolve(opened) : reject(error),
    )
  })
  return {
    query: (sql, params) =>
      new Promise((resolve, reject) => {
        database.all(sql, [...params], (error, rows: readonly object[]) =>
          error === null ? resolve(rows.map((row) => Object.values(row)[0] as unknown)) : reject(error),
        )
      }),
    close: () => new Promise((resolve) => database.close(() => resolve())),
  }
}

async function openPostgres(url: string): Promise<Connection> {
  const client = new Client({ connectionString: url })
  await client.connect()
  return {
    query: async (sql, params) => {
      const { rows } = await client.query<unknown[]>({ text: sql, values: [...params], rowMode: 'array' })
      return rows.map(([first]) => first)
    },
    close: () => client.end(),
  }
}

async function openMysql(url: string): Promise<Connection> {
  const connection = await createConnection({
    uri: url,
    timezone: 'Z',
    rowsAsArray: true,
    maxPreparedStatements: 100,
  })
  return {
    query: async (sql, params) => {
      const [rows] = await connection.execute(sql, [...params] as string[])
      return Array.isArray(rows) ? (rows as unknown[][]).map(([first]) => first) : []
    },
    close: () => connection.end(),
  }
}
