import { propertyOf } from './readable.js'

/**
 * MySQL's error numbers for values that are out of range, truncated, too long, or not a valid date or number.
 */
const ERRNOS: ReadonlySet<unknown> = new Set([1264, 1265, 1292, 1366, 1406])

/**
 * Matches messages of MySQL and MariaDB. The value precedes the column and may imitate it, so only the end of
 * the message is read.
 */
const COLUMN = / for column (?:(?:`[^`]+`\.){0,2}`([^`]+)`|'([^']+)') at row \d+$/

/** Longer messages do not come from a database. */
const LONGEST_TEXT = 2000

/** Returns the column that cannot contain a written value, if a driver's error names it. Never throws. */
export function refusedColumnOf(error: unknown): string | undefined {
  const message = propertyOf(error, 'message')
  if (typeof propertyOf(error, 'sqlState') !== 'string' || !ERRNOS.has(propertyOf(error, 'errno')))
    return undefined
  if (typeof message !== 'string' || message.length > LONGEST_TEXT) return undefined
  const [, plain, quoted] = COLUMN.exec(message) ?? []
  return plain ?? quoted
}
