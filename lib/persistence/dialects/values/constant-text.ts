import type { JsonSql } from './json-sql.js'

interface Literals {
  readonly text: { readonly literal: (text: string) => string }
  readonly values: { readonly json: Pick<JsonSql, 'literal'> }
}

/**
 * Returns a declared constant as SQL. Returns undefined for times, bytes and objects, which cannot be
 * defaults.
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
