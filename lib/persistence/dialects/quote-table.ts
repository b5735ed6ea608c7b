import type { TableName } from './catalog/table-definition.js'
import type { Dialect } from './dialect.js'

/** Returns `"schema"."table"`. */
export const quoteTable = (
  { schema, name }: TableName,
  { text: { quote } }: { readonly text: Pick<Dialect['text'], 'quote'> },
): string => (schema === undefined ? quote(name) : `${quote(schema)}.${quote(name)}`)
