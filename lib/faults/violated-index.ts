import { propertyOf } from './readable.js'

/** The index that a write violated, if a driver's error names it. It contains only names, never a value. */
export interface ViolatedIndex {
  readonly table?: string
  /** The name of the index without its table. */
  readonly name?: string
  readonly columns?: readonly string[]
}

/** Longer messages do not come from a database. */
const LONGEST_TEXT = 2000

/**
 * Matches messages of MySQL and MariaDB. The value precedes the key and may imitate it, so only the end of
 * the message is read.
 */
const MYSQL_KEY = /for key '([^']+)'$/

/** Matches messages of SQLite, which never repeat a value. */
const SQLITE_COLUMNS = /(?:UNIQUE|PRIMARY KEY) constraint failed: (.+)$/

/**
 * Matches details of PostgreSQL. The columns precede the values, and a word in the server's language precedes
 * the columns.
 */
const POSTGRES_COLUMNS = /^[^("]*\(((?:"(?:[^"]|"")+"|[^()", ]+)(?:, (?:"(?:[^"]|"")+"|[^()", ]+))*)\)=\(/

const UNIQUE_VIOLATION = '23505'
/** program_limit_exceeded: the row is too long for an index. */
const TOO_LONG = '54000'

/** Returns the violated index; undefined for an error that concerns no index. Never throws. */
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

/**
 * Returns true if a row is too long for an index. PostgreSQL also uses this code for other limits. For a row
 * that exceeds a page it does not name the index.
 */
const isTooLong = (of: (name: string) => string | undefined): boolean =>
  of('constraint') !== undefined || of('routine')?.startsWith('index_form_tuple') === true

/** Returns the columns that the DETAIL of a PostgreSQL error names. */
export const postgresColumns = (detail: string | undefined): readonly string[] | undefined =>
  POSTGRES_COLUMNS.exec(detail ?? '')?.[1]
    ?.match(/"(?:[^"]|"")+"|[^()", ]+/g)
    ?.map((name) => (name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name))

/** Parses columns such as `tasks.account_id, tasks.title`. */
function sqliteColumns(text: string): ViolatedIndex | undefined {
  const parts = text.split(', ').map((part) => {
    const dot = part.indexOf('.')
    return { table: part.slice(0, dot), column: part.slice(dot + 1) }
  })
  const [first] = parts
  return first && { table: first.table, columns: parts.map(({ column }) => column) }
}
