import { propertyOf } from './readable.js'

/** The index that a write violated, as far as a driver's error names it. It has names only, never a value. */
export interface ViolatedIndex {
  readonly table?: string
  /** Without its table. */
  readonly name?: string
  readonly columns?: readonly string[]
}

/** Longer texts are not of a database. */
const LONGEST_TEXT = 2000

/**
 * MySQL and MariaDB. The value stands before it and may imitate it, so that only the end of the text counts.
 */
const MYSQL_KEY = /for key '([^']+)'$/

/** SQLite. Its texts never repeat a value. */
const SQLITE_COLUMNS = /(?:UNIQUE|PRIMARY KEY) constraint failed: (.+)$/

/**
 * PostgreSQL. The columns stand before the values, and what is before them is a word of the server's
 * language.
 */
const POSTGRES_COLUMNS = /^[^("]*\(((?:"(?:[^"]|"")+"|[^()", ]+)(?:, (?:"(?:[^"]|"")+"|[^()", ]+))*)\)=\(/

const UNIQUE_VIOLATION = '23505'
/** program_limit_exceeded: an index refuses a row that is too long. */
const TOO_LONG = '54000'

/** Undefined for an error that is of no index. Never throws. */
export function violatedIndexOf(error: unknown): ViolatedIndex | undefined {
  const of = (name: string): string | undefined => {
    const value = propertyOf(error, name)
    return typeof value === 'string' && value !== '' && value.length <= LONGEST_TEXT ? value : undefined
  }
  const [code, message] = [of('code'), of('message')]
  const isOfIndex = code === UNIQUE_VIOLATION || (code === TOO_LONG && isTooLong(of))
  if (of('severity') !== undefined && isOfIndex) {
    const [table, name, columns] = [of('table'), of('constraint'), postgresColumns(of('detail'))]
    return { ...(table && { table }), ...(name && { name }), ...(columns && { columns }) }
  }
  if (message === undefined) return undefined
  if (of('sqlState') !== undefined) {
    const key = MYSQL_KEY.exec(message)?.[1]
    return key === undefined ? undefined : { name: key }
  }
  const columns = code?.startsWith('SQLITE_CONSTRAINT') === true && SQLITE_COLUMNS.exec(message)?.[1]
  return columns ? sqliteColumns(columns) : undefined
}

/** PostgreSQL has this code for other limits too. Of a row beyond a page it does not name the index. */
const isTooLong = (of: (name: string) => string | undefined): boolean =>
  of('constraint') !== undefined || of('routine')?.startsWith('index_form_tuple') === true

/** Returns the columns that the DETAIL of a PostgreSQL error names. */
export const postgresColumns = (detail: string | undefined): readonly string[] | undefined =>
  POSTGRES_COLUMNS.exec(detail ?? '')?.[1]
    ?.match(/"(?:[^"]|"")+"|[^()", ]+/g)
    ?.map((name) => (name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name))

/** `tasks.account_id, tasks.title`. */
function sqliteColumns(text: string): ViolatedIndex | undefined {
  const parts = text.split(', ').map((part) => {
    const dot = part.indexOf('.')
    return { table: part.slice(0, dot), column: part.slice(dot + 1) }
  })
  const [first] = parts
  return first && { table: first.table, columns: parts.map(({ column }) => column) }
}
