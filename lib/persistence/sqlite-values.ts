export type SqliteValue = null | number | string | Buffer

/**
 * The values as both engines store them alike. 64-bit integers travel as text, so a statement that does not hand them to
 * an INTEGER column writes `CAST(? AS INTEGER)`.
 * @throws TypeError for what would be stored as something else, such as undefined or NaN, which become NULL.
 */
export function sqliteValues(values: readonly unknown[]): SqliteValue[] {
  return values.map(toSqliteValue)
}

function toSqliteValue(value: unknown, index: number): SqliteValue {
  if (value === null || typeof value === 'string' || Buffer.isBuffer(value)) return value
  if (typeof value === 'number' && !Number.isNaN(value)) return value
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  const kind =
    value instanceof Date ? 'a Date' : Number.isNaN(value) ? 'NaN' : `a value of type ${typeof value}`
  throw new TypeError(`SQLite cannot hold ${kind} (value ${index + 1}): bind null, a number, text or bytes`)
}
