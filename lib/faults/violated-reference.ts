import { propertyOf } from './readable.js'
import { postgresColumns } from './violated-index.js'

/** The foreign key that a written row violated, if a driver's error names it. It never contains a value. */
export interface ViolatedReference {
  /** The table that has the foreign key. */
  readonly table?: string
  readonly columns?: readonly string[]
}

const LONGEST_TEXT = 2000
/** ER_NO_REFERENCED_ROW_2: the written row refers to a missing row. */
const NO_REFERENCED_ROW = 1452
/** Matches messages of the server itself, which quotes each name and repeats no value. */
const MYSQL_COLUMNS = /FOREIGN KEY \((`[^`]+`(?:, `[^`]+`)*)\) REFERENCES /
const POSTGRES_CODE = '23503'
const SQLITE_TEXT = /FOREIGN KEY constraint failed$/

/** Returns the violated foreign key; undefined for an error that concerns none. Never throws. */
export function violatedReferenceOf(error: unknown): ViolatedReference | undefined {
  const of = (name: string): string | undefined => {
    const value = propertyOf(error, name)
    return typeof value === 'string' && value !== '' && value.length <= LONGEST_TEXT ? value : undefined
  }
  const [code, message] = [of('code'), of('message')]
  if (of('severity') !== undefined) {
    const [table, columns] = [of('table'), postgresColumns(of('detail'))]
    return code === POSTGRES_CODE ? { ...(table && { table }), ...(columns && { columns }) } : undefined
  }
  if (of('sqlState') !== undefined) {
    const named =
      propertyOf(error, 'errno') === NO_REFERENCED_ROW ? MYSQL_COLUMNS.exec(message ?? '')?.[1] : undefined
    return named === undefined ? undefined : { columns: named.split(', ').map((name) => name.slice(1, -1)) }
  }
  return code?.startsWith('SQLITE_CONSTRAINT') === true && SQLITE_TEXT.test(message ?? '') ? {} : undefined
}
