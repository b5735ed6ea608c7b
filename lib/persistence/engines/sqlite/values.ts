import { sqlite } from '../../dialects/sqlite.js'
import { bufferOf } from '../../dialects/values/buffer-of.js'
import { checkValues } from '../executor/check-values.js'

export type SqliteValue = null | number | string | Buffer

/**
 * Converts values so that both engines store them alike. Booleans become 0 and 1, and 64-bit integers become
 * strings. A statement that does not write these to an INTEGER column must use `CAST(? AS INTEGER)`.
 *
 * @throws TypeError for values that the engines would store as NULL, such as undefined or NaN.
 */
export function sqliteValues(values: readonly unknown[]): SqliteValue[] {
  checkValues(values, sqlite)
  const bound: SqliteValue[] = []
  for (const value of values) bound.push(typeof value === 'string' ? value : toSqliteValue(value))
  return bound
}

function toSqliteValue(value: unknown): SqliteValue {
  if (typeof value === 'number') return value
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value === 'bigint') return value.toString()
  if (!(value instanceof Uint8Array)) return null
  return bufferOf(value)
}
