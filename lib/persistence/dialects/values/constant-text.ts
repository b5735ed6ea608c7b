import type { JsonSql } from './json-sql.js'

/** The SQL of constants. */
interface Literals {
  readonly text: { readonly literal: (text: string) => string }
  readonly values: { readonly json: Pick<JsonSql, 'literal'> }
}

/**
 * A constant of a declaration as SQL. Undefined where no column has one as its default: for a time, bytes and
 * objects.
 */
export function constantText(value: unknown, dialect: Literals): string | undefined {
  switch (typeof value) {
    case 'string':
      return dialect.text.literal(value)
    case 'boolean':
      return dialect.values.json.literal(value)
    case 'number':
    case 'bigint':
      return String(value)
    default:
      return undefined
  }
}
