import { createHash } from 'node:crypto'
import type { Database, Statement } from './executor/executor.js'
import { named } from './executor/named.js'

/**
 * The SQL fragments of a dialect that the stores need. Time is always the database's: the clocks of processes
 * differ.
 */
export interface SqlText {
  /** The current time in the table's format. */
  readonly now: string
  /** The time after a number of milliseconds; holds one `?`. */
  readonly later: string
  /** The number of milliseconds it is until the time in a column; negative for one that has passed. */
  readonly msUntil: (column: string) => string
  /** A `?` that may be NULL where SQL cannot infer its type. */
  readonly bound: Readonly<Record<'text' | 'bytes' | 'integer', string>>
  /** Selects a column of bytes in the form that `bytesOf` reads. */
  readonly bytesIn: (column: string) => string
  /** A table of the baseline migration, in the schema of the DataSource if it has one. */
  readonly table: (name: string) => string
  /** Inserts nothing, without an error, when the key already exists. */
  readonly insertNew: (table: string, columns: readonly string[], values: readonly string[]) => string
  /** A statement from a text with `?` for values. */
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

/** Bytes as a driver returns the column of `bytesIn`: a Buffer, or hexadecimal text. */
export const bytesOf = (value: unknown): Buffer => {
  if (typeof value === 'string') return Buffer.from(value, 'hex')
  return value instanceof Uint8Array ? Buffer.from(value) : Buffer.alloc(0)
}

/**
 * A text that fits a key column on every database: the text itself, or its digest when it is too long or
 * cannot be stored.
 */
export const keyPart = (text: string): string => {
  const isStorable = !text.includes('\0') && text.isWellFormed()
  if (isStorable && Buffer.byteLength(text) <= KEY_BYTES) return text
  const bytes = Buffer.from(text, text.isWellFormed() ? 'utf8' : 'utf16le')
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

const KEY_BYTES = 255
