import { createHash } from 'node:crypto'
import { type Database, named, type Statement } from '../../persistence/sql/transaction.js'

/** How a dialect says what the stores need to say. Time is always the database's own: the clocks of processes differ. */
export interface SqlText {
  /** Now, as the table keeps it. */
  readonly now: string
  /** That many milliseconds from now; holds one `?`. */
  readonly later: string
  /** A `?` that may be NULL where the place does not say its type. */
  readonly bound: Readonly<Record<'text' | 'bytes' | 'integer', string>>
  /** Selects a column of bytes in the form that `bytesOf` reads. */
  readonly bytesIn: (column: string) => string
  /** A table of the baseline migration, in the schema of the DataSource where it has one. */
  readonly table: (name: string) => string
  /** Inserts nothing, without an error, when the key is there already. */
  readonly insertNew: (table: string, columns: readonly string[], values: readonly string[]) => string
  /** A statement from a text whose values are `?`. */
  readonly statement: (text: string) => Statement
}

export const sqlText = ({ dialect, dataSource: { options } }: Database): SqlText => {
  const isMysql = dialect === 'mysql' || dialect === 'mariadb'
  const schema = (options.type === 'postgres' && options.schema) || undefined
  return {
    ...(isMysql ? MYSQL_TIME : TIME[dialect as 'postgres' | 'sqlite']),
    bound: dialect === 'postgres' ? TYPED : UNTYPED,
    bytesIn: (column) => (dialect === 'postgres' ? `encode(${column}, 'hex')` : column),
    table: (name) => (schema === undefined ? name : `"${schema.replaceAll('"', '""')}".${name}`),
    insertNew: (table, columns, values) => {
      const head = `INTO ${table} (${columns.join(', ')}) VALUES (${values.join(', ')})`
      return isMysql ? `INSERT IGNORE ${head}` : `INSERT ${head} ON CONFLICT DO NOTHING`
    },
    statement: (text) => named(dialect === 'postgres' ? numbered(text) : text),
  }
}

/** Bytes as a driver answers what `bytesIn` selects: a Buffer, or hexadecimal text. */
export const bytesOf = (value: unknown): Buffer => {
  if (typeof value === 'string') return Buffer.from(value, 'hex')
  return value instanceof Uint8Array ? Buffer.from(value) : Buffer.alloc(0)
}

/** A text as it fits a key column on every database: itself, or its digest when it is too long, or no text of theirs. */
export const keyPart = (text: string): string => {
  const isStorable = !text.includes('\0') && text.isWellFormed()
  if (isStorable && Buffer.byteLength(text) <= KEY_BYTES) return text
  const bytes = Buffer.from(text, text.isWellFormed() ? 'utf8' : 'utf16le')
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

const KEY_BYTES = 255

const TIME = {
  postgres: {
    now: 'clock_timestamp()',
    later: `(clock_timestamp() + ?::double precision * interval '1 millisecond')`,
  },
  sqlite: {
    now: `CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)`,
    later: `CAST((julianday('now') - 2440587.5) * 86400000 + ? AS INTEGER)`,
  },
} as const

const MYSQL_TIME = {
  now: 'UTC_TIMESTAMP(6)',
  later: 'DATE_ADD(UTC_TIMESTAMP(6), INTERVAL ? * 1000 MICROSECOND)',
} as const

const TYPED = { text: '?::text', bytes: '?::bytea', integer: '?::integer' } as const
const UNTYPED = { text: '?', bytes: '?', integer: '?' } as const

/** A `?` of a quoted name is part of it. */
const numbered = (text: string): string => {
  let n = 0
  return text.replace(/"[^"]*"|\?/g, (found) => (found === '?' ? `$${++n}` : found))
}
