import { sqlite } from '../../dialects/sqlite.js'
import { bufferOf } from '../../dialects/values/buffer-of.js'
import { checkValues } from '../executor/check-values.js'

export type SqliteValue = null | number | string | Buffer

/**
 * The values in a form that both engines store alike: booleans as 0 and 1. 64-bit integers are sent as text,
 * so a statement that does not write them to an INTEGER column uses `CAST(? AS INTEGER)`.
 * @throws TypeError for values that would change, such as undefined or NaN, which become NULL.
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
