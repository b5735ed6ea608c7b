import { createHash } from 'node:crypto'
import type { Database, Statement } from './executor/executor.js'
import { named } from './executor/named.js'

/**
 * The SQL fragments of the server's own tables. Time is always the database's, because process clocks differ.
 */
export interface SqlText {
  /** The current time in the table's format. */
  readonly now: string
  /** The current time plus a number of milliseconds. Contains one `?`. */
  readonly later: string
  /** Returns the milliseconds until a column's time. Negative if it has passed. */
  readonly msUntil: (column: string) => string
  /** Placeholders that may be NULL in places where SQL cannot infer their type. */
  readonly bound: Readonly<Record<'text' | 'bytes' | 'integer', string>>
  /** Returns an expression that selects bytes in the form that `bytesOf` reads. */
  readonly bytesIn: (column: string) => string
  /** Returns a table of the baseline migration, in the DataSource's schema if it has one. */
  readonly table: (name: string) => string
  /** Inserts a row unless its key exists. */
  readonly insertNew: (table: string, columns: readonly string[], values: readonly string[]) => string
  /** Returns a statement for SQL with `?` placeholders. */
  readonly statement: (text: string) => Statement
}

export const sqlText = ({ dialect, dataSource: { options } }: Database): SqlText => {
  const {
    stores,
    catalog: { namespace },
    text: { quote },
  } = dialect
  const schema = (namespace?.kind === 'schema' && 'schema' in options && options.schema) || undefined
  return {
    ...stores,
    table: (name) => (schema === undefined ? name : `${quote(schema)}.${name}`),
    insertNew: (table, columns, values) =>
      stores.insertNew(`INTO ${table} (${columns.join(', ')}) VALUES (${values.join(', ')})`),
    statement: (text) => named(stores.numbered(text)),
  }
}

/** Returns the bytes of a column that was selected with `bytesIn`: a Buffer or a hexadecimal string. */
export const bytesOf = (value: unknown): Buffer => {
  if (typeof value === 'string') return Buffer.from(value, 'hex')
  return value instanceof Uint8Array ? Buffer.from(value) : Buffer.alloc(0)
}

/**
 * Returns a string that fits a key column on every database: the string itself, or its digest if it is too
 * long or cannot be stored.
 */
export const keyPart = (text: string): string => {
  const isStorable = !text.includes('\0') && text.isWellFormed()
  if (isStorable && Buffer.byteLength(text) <= KEY_BYTES) return text
  const bytes = Buffer.from(text, text.isWellFormed() ? 'utf8' : 'utf16le')
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

const KEY_BYTES = 255
