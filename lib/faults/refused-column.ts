import { propertyOf } from './readable.js'

/** Out of range, truncated, a wrong date or number, too long. */
const ERRNOS: ReadonlySet<unknown> = new Set([1264, 1265, 1292, 1366, 1406])

/**
 * MySQL and MariaDB. The value stands before it and may imitate it, so that only the end of the text counts.
 */
const COLUMN = / for column (?:(?:`[^`]+`\.){0,2}`([^`]+)`|'([^']+)') at row \d+$/

/** Longer texts are not of a database. */
const LONGEST_TEXT = 2000

/** The column that cannot hold a written value, as far as a driver's error names it. Never throws. */
export function refusedColumnOf(error: unknown): string | undefined {
  const message = propertyOf(error, 'message')
  if (typeof propertyOf(error, 'sqlState') !== 'string' || !ERRNOS.has(propertyOf(error, 'errno')))
    return undefined
  if (typeof message !== 'string' || message.length > LONGEST_TEXT) return undefined
  const [, plain, quoted] = COLUMN.exec(message) ?? []
  return plain ?? quoted
}
