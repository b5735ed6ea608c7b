import type { TableName } from './catalog/table-definition.js'
import type { Dialect } from './dialect.js'

/** `"schema"."table"`. */
export const quoteTable = ({ schema, name }: TableName, dialect: Pick<Dialect, 'quote'>): string =>
  schema === undefined ? dialect.quote(name) : `${dialect.quote(schema)}.${dialect.quote(name)}`
