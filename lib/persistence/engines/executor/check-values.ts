import type { Dialect } from '../../dialects/dialect.js'

/**
 * Rejects values that drivers would convert or treat differently.
 *
 * @throws TypeError with the position of the value.
 * @throws RangeError if there are more values than one statement can have.
 */
export function checkValues(values: readonly unknown[], dialect: Dialect): void {
  const {
    values: { maxValues },
    name,
  } = dialect
  if (values.length > maxValues) {
    throw new RangeError(`${values.length} values in one statement: ${name} accepts ${maxValues}`)
  }
  for (let index = 0; index < values.length; index++) {
    const value = values[index]
    if (typeof value !== 'string' && !isBindable(value, dialect)) throw refusal(value, index)
  }
}

function isBindable(value: unknown, dialect: Dialect): boolean {
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') return true
  // Both SQLite drivers bind infinity unchanged, but NaN as NULL.
  if (typeof value === 'number')
    return Number.isFinite(value) || (dialect.can.infinities && !Number.isNaN(value))
  if (value instanceof Uint8Array) return true
  return (
    dialect.can.arrays &&
    Array.isArray(value) &&
    value.every((item) => typeof item === 'string' || isBindable(item, dialect))
  )
}

function refusal(value: unknown, index: number): TypeError {
  const kind =
    value instanceof Date ? 'a Date' : typeof value === 'number' ? String(value) : `of type ${typeof value}`
  return new TypeError(
    `value ${index + 1} is ${kind}: bind null, a boolean, a finite number, a bigint, a string or bytes`,
  )
}
