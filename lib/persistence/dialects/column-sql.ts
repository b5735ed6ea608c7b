import type { Field, Inside } from '../../resource/fields/field.js'
import { bool } from '../../resource/kinds/bool.js'
import { double } from '../../resource/kinds/fractions.js'
import { kindOf } from '../../resource/kinds/kinds.js'
import { string } from '../../resource/kinds/text.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Dialect } from './dialect.js'
import { constantText } from './values/constant-text.js'
import { again } from './values/bound-value.js'
import type { LeafType } from './values/json-sql.js'
import type { WriteText } from './values/tag-sql.js'
import { rulesOf } from '../query/plan-rules.js'
import type { PlanColumn } from '../query/query-plan.js'

/** A column in a comparison. */
type Compared = Pick<PlanColumn, 'kind' | 'collation' | 'stored' | 'inside' | 'otherFormats'>

/**
 * Returns a column so that strings compare by code point. If the column declares a collation, no index serves
 * this expression. {@link equalSql} and {@link amongSql} also use the column's own index.
 */
export const exactSql = (
  name: string,
  column: Compared,
  { values: { kinds }, text: { exactly } }: Dialect,
): string => {
  const { collation, stored, inside } = column
  const isText = kinds[column.kind].isText && stored === undefined && inside === undefined
  return collation === undefined || !isText ? name : exactly(name, collation)
}

/**
 * Returns the comparison of a column with a value. If the column's collation may treat different strings as
 * equal, its index finds the candidates and a comparison by code point decides.
 *
 * @param value - a placeholder or an expression. It may appear twice.
 */
export const equalSql = (name: string, column: Compared, value: string, dialect: Dialect): string => {
  const exact = exactSql(name, column, dialect)
  if (exact !== name) return `${name} = ${value} AND ${exact} = ${again(value)}`
  const text = dialect.values.kinds[column.kind].textOf?.(column as Field)
  return `${name} = ${value}${text === undefined ? '' : ` AND ${text(name)} = ${text(again(value))}`}`
}

/** Returns the comparison of a column with several values, one placeholder each. */
export const amongSql = (
  name: string,
  column: Compared,
  values: readonly string[],
  dialect: Dialect,
): string => {
  const exact = exactSql(name, column, dialect)
  const found = `${name} IN (${values.join(', ')})`
  const text = dialect.values.kinds[column.kind].textOf?.(column as Field)
  if (exact === name && text !== undefined)
    return `${found} AND ${text(name)} IN (${values.map((value) => text(again(value, values.length))).join(', ')})`
  if (exact === name) return found
  return `${found} AND ${exact} IN (${values.map((value) => again(value, values.length)).join(', ')})`
}

/**
 * Returns the comparison of a column with an array or a subquery.
 *
 * @param values - `= ANY(…)` or `IN (…)`.
 */
export const amongAllSql = (name: string, column: Compared, values: string, dialect: Dialect): string => {
  const exact = exactSql(name, column, dialect)
  return exact === name ? `${name} ${values}` : `${name} ${values} AND ${exact} ${values}`
}

/** Returns the comparison of two columns. Different collations are only comparable by code point. */
export const sameSql = (
  [name, column]: readonly [name: string, column: Compared],
  [otherName, other]: readonly [name: string, column: Compared],
  dialect: Dialect,
): string => {
  const [exact, otherExact] = [exactSql(name, column, dialect), exactSql(otherName, other, dialect)]
  const isBare = exact === name && otherExact === otherName
  const exactly = `${exact} = ${otherExact}`
  return isBare || column.collation !== other.collation ? exactly : `${name} = ${otherName} AND ${exactly}`
}

/** Returns a column for comparisons and sort orders: {@link exactSql} of {@link storedSql}. */
export const columnSql = (
  column: PlanColumn,
  dialect: Dialect,
  table?: string,
  bindText?: WriteText,
): string => {
  const stored = storedSql(column, dialect, table, bindText)
  return dialect.values.kinds[column.kind].ordered?.(stored, column) ?? exactSql(stored, column, dialect)
}

/**
 * Returns the part of a column that is compared: all of it, or only its beginning.
 *
 * @param table - the qualifier. In ORDER BY a bare name would refer to the select list, which may contain a
 *   converted value
 * under the same name.
 * @param bindText - binds keys of free-form JSON, which come from the caller.
 */
export const storedSql = (
  column: PlanColumn,
  dialect: Dialect,
  table?: string,
  bindText?: WriteText,
): string => {
  const bare = dialect.text.quote(column.column)
  const name = table === undefined ? bare : `${dialect.text.quote(table)}.${bare}`
  if (column.inside?.path !== undefined) return leafSql(name, column, column.inside, dialect, bindText)
  if (column.inside !== undefined) return insideSql(name, column, column.inside, dialect)
  const value = column.nullIsZero === true ? zeroForNull(name, column, dialect, table) : name
  return column.first === undefined ? value : dialect.values.kinds[column.kind].beginning(value, column.first)
}

/**
 * Replaces NULL with the zero value, because reads return zero, too. The columns of a missing row stay NULL.
 */
const zeroForNull = (name: string, column: PlanColumn, dialect: Dialect, table?: string): string => {
  const zero =
    column.kind === 'any' || column.json !== undefined ? undefined : kindOf(column as Field).filler(column)
  const text = dialect.values.kinds[column.kind].zero ?? constantText(zero, dialect)
  if (text === undefined) return name
  const read = `COALESCE(${name}, ${text})`
  if (column.of === undefined || table === undefined) return read
  const key = `${dialect.text.quote(table)}.${dialect.text.quote(column.of.target.key.column)}`
  return `(CASE WHEN ${key} IS NOT NULL THEN ${read} END)`
}

/**
 * Returns the condition on the tenant, which every statement contains.
 *
 * @param value - returns a placeholder or an expression for the tenant.
 * @param of - the qualifier of the column.
 */
export const isOfTenant = (
  { tenant }: Pick<ResourceModel, 'tenant'>,
  value: (tenant: Field) => string,
  dialect: Dialect,
  of = '',
): string => {
  if (tenant === undefined) throw new TypeError('a statement for a tenant requires a resource with a tenant')
  return equalSql(`${of}${dialect.text.quote(tenant.column)}`, tenant, value(tenant), dialect)
}

/**
 * Returns a condition that excludes the rows of an existing table that have no tenant. It follows another
 * condition.
 *
 * @param of - the qualifier of the columns.
 */
export const ofSomeTenant = (
  { existing, tenant }: Pick<ResourceModel, 'existing' | 'tenant'>,
  { text: { quote } }: Pick<Dialect, 'text'>,
  of = '',
): string => (existing && tenant !== undefined ? ` AND ${of}${quote(tenant.column)} IS NOT NULL` : '')

/**
 * Returns true if the column `soft_delete_key` replaces conditions of partial indexes. Existing tables keep
 * their own indexes.
 */
export const hasDeleteKey = (
  { deleteTime, uniques, existing }: Pick<ResourceModel, 'deleteTime' | 'uniques' | 'existing'>,
  { can }: Pick<Dialect, 'can'>,
): boolean => !can.partialIndexes && deleteTime !== undefined && uniques.length > 0 && !existing

/** Returns a key as a string, for statements that store the key in this form. */
export const keyTextSql = (key: Field, { values: { kinds }, text: { quote } }: Dialect): string => {
  const name = quote(key.column)
  return kinds[key.kind].keyText?.(name, key) ?? name
}

const leafSql = (
  name: string,
  { kind, json }: PlanColumn,
  { keys, path = [] }: Inside,
  { values }: Dialect,
  bindText: WriteText | undefined,
): string => {
  if (bindText === undefined) throw new TypeError('a JSON leaf can be compared only in a condition')
  const type = LEAF_TYPES[kind] ?? (path.length > 0 ? 'any' : (json?.shape ?? 'any'))
  return values.json.leaf(name, keys, path, type, bindText)
}

/** The leaf types that are converted. For other kinds only the presence of a value is checked. */
const LEAF_TYPES: Readonly<Partial<Record<PlanColumn['kind'], LeafType>>> = {
  [string.name]: 'string',
  [double.name]: 'number',
  [bool.name]: 'boolean',
}

/**
 * Returns NULL if the enclosing message is missing, and the zero value if the message exists without the
 * field.
 */
const insideSql = (name: string, column: PlanColumn, { keys, zero }: Inside, dialect: Dialect): string => {
  const {
    values: { json },
  } = dialect
  if (rulesOf(column).isNested) return `(CASE WHEN ${json.isObject(name, keys)} THEN 1 END)`
  const value = dialect.values.kinds[column.kind].inside?.(name, keys)
  if (value === undefined) throw new TypeError(`${column.kind} is not compared inside a message`)
  if (zero === undefined) return value
  const nothing = typeof zero === 'string' ? dialect.text.literal(zero) : json.literal(zero)
  return `(CASE WHEN ${json.isSet(name, keys)} THEN ${value} WHEN ${json.isObject(name, keys.slice(0, -1))} THEN ${nothing} END)`
}

/**
 * Returns the new value of a column. An update time never goes back, even if the clock does. A version is
 * added to the stored one.
 *
 * @param name - the column as the statement qualifies it.
 */
export function writtenSql(
  { updateTime, version }: Pick<ResourceModel, 'updateTime' | 'version'>,
  { column }: Pick<Field, 'column'>,
  name: string,
  value: string,
  { values: { later } }: Dialect,
): string {
  if (column === version?.column) return `COALESCE(${name}, 0) + ${value}`
  return column === updateTime?.column ? later(name, value) : value
}

/** Returns the new value of a column, or its stored value if the message cannot represent it. */
export function unlessUnread(name: string, field: Field, value: string, { values }: Dialect): string {
  const shape = field.json?.shape
  const read =
    shape === undefined
      ? values.kinds[field.kind].readable?.(name, field)
      : `${values.json.leaf(name, [], [], shape, (text) => text)} IS NOT NULL`
  return read === undefined ? value : `CASE WHEN ${name} IS NULL OR ${read} THEN ${value} ELSE ${name} END`
}
