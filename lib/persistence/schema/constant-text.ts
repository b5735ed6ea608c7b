import type { Dialect } from '../dialects/dialect.js'

/**
 * A constant of a declaration as SQL. Undefined where no column has one as its default: for a time, bytes and
 * objects.
 */
export function constantText(value: unknown, dialect: Dialect): string | undefined {
  switch (typeof value) {
    case 'string':
      return dialect.literal(value)
    case 'boolean':
      return dialect.json.literal(value)
    case 'number':
    case 'bigint':
      return String(value)
    default:
      return undefined
  }
}
