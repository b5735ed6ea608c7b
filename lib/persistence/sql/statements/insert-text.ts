import type { Field } from '../../../resource/fields/field.js'
import type { ResourceModel } from '../../../resource/resource-model.js'
import { isOfTenant } from '../../dialects/column-sql.js'
import type { Dialect } from '../../dialects/dialect.js'
import { Placeholders } from '../../engines/executor/placeholders.js'
import { OUTBOX_TYPES, type OutboxWriter } from '../../outbox/sql/outbox-writer.js'
import type { Taken } from '../../rows/parents.js'
import { newColumns } from './last-generated.js'
import { takenFrom } from './row-predicate.js'

/**
 * Returns the select expression of a column.
 *
 * @param column - the quoted and qualified name.
 */
export type ReadColumn = (field: Field, column: string) => string

/** The table of a statement, and how its columns are written. */
export interface InsertedTable {
  readonly model: ResourceModel
  readonly dialect: Dialect
  /** The quoted name. */
  readonly table: string
  readonly select: (fields: readonly Field[], of?: string, read?: ReadColumn) => string
}

/** Returns the fields of a new row that the table does not set itself. */
export const inserted = ({ fields }: ResourceModel): readonly Field[] =>
  fields.filter(({ generated, isNotInserted }) => generated !== true && isNotInserted !== true)

/** Returns the fields of a new row, without the key that the database generates. */
export const withoutKey = (model: ResourceModel): readonly Field[] =>
  inserted(model).filter(({ isIdentity }) => isIdentity !== true)

/**
 * Returns a statement that inserts a row, or nothing if a parent is missing. Parameters: the values of the
 * locks, one per field, and the values of the event.
 */
export function insertText(
  { model, dialect, table, select }: InsertedTable,
  fields: readonly Field[],
  parents: readonly Taken[],
  along: OutboxWriter['along'] | undefined,
): string {
  const text = new Placeholders(dialect)
  const [begin, from] = takenFrom(text, parents)
  const { entityFields } = model
  const names = fields.map((field) => dialect.text.quote(field.column)).join(', ')
  const values = fields.map((field) => text.bind(field)).join(', ')
  const source = from === '' ? `VALUES (${values})` : `SELECT ${values} FROM ${from}`
  const row = fields.length === 0 ? dialect.ddl.identity.alone : `(${names}) ${source}`
  const insert = `INSERT INTO ${table} ${row}`
  const read = newColumns(model, dialect)
  // The result also shows if a parent is missing.
  if (along === undefined)
    return `${begin}${insert}${dialect.can.returning ? ` RETURNING ${select(entityFields, '', read)}` : ''}`
  const event = OUTBOX_TYPES.map((type) => `${text.count()}::${type}`)
  const inserted = `i AS (${insert} RETURNING ${entityFields.map((field) => dialect.text.quote(field.column)).join(', ')})`
  return `${begin === '' ? 'WITH ' : `${begin.trimEnd()}, `}${inserted}, e AS (${along(event, 'i')}) SELECT ${select(entityFields, 'i.', read)} FROM i`
}

/**
 * Returns a statement that selects the row for which the connection last generated a key. Parameters: the
 * tenant if there is one.
 */
export function generatedRowText({ model, dialect, table, select }: InsertedTable, isOwned: boolean): string {
  const text = new Placeholders(dialect)
  const { entityFields, key } = model
  const mine = isOwned ? ` AND ${isOfTenant(model, (field) => text.bind(field), dialect)}` : ''
  return `SELECT ${select(entityFields)} FROM ${table} WHERE ${dialect.text.quote(key.column)} = ${dialect.ddl.identity.last ?? ''}${mine}`
}
