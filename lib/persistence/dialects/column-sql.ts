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

/** A column that is compared. */
type Compared = Pick<PlanColumn, 'kind' | 'collation' | 'stored' | 'inside' | 'otherFormats'>

/**
 * A column so that its texts are compared and ordered by code point. Of a column with a declared collation no
 * index serves that: {@link equalSql} and {@link amongSql} use one.
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
 * Compares a column with a value. If its collation may treat another string as equal, an index of that
 * collation finds the rows, and a comparison by code point decides.
 * @param value - a placeholder, or a value that is written twice.
 */
export const equalSql = (name: string, column: Compared, value: string, dialect: Dialect): string => {
  const exact = exactSql(name, column, dialect)
  if (exact !== name) return `${name} = ${value} AND ${exact} = ${again(value)}`
  const text = dialect.values.kinds[column.kind].textOf?.(column as Field)
  return `${name} = ${value}${text === undefined ? '' : ` AND ${text(name)} = ${text(again(value))}`}`
}

/** The same for one of several values, a placeholder each. */
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

/** The same for an array, or for what a subquery selects. @param values - `= ANY(…)`, or `IN (…)`. */
export const amongAllSql = (name: string, column: Compared, values: string, dialect: Dialect): string => {
  const exact = exactSql(name, column, dialect)
  return exact === name ? `${name} ${values}` : `${name} ${values} AND ${exact} ${values}`
}

/** Two columns that have the same value. Two collations agree about nothing but code points. */
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

/** A column as comparisons and orders write it: {@link exactSql} of {@link storedSql}. */
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
 * The part of a column that is compared: its beginning, if only that counts.
 * @param table - qualifies the name. In an ORDER BY a bare name means a column of the select list, which may
 * have the stored column's name and a converted value.
 * @param bindText - binds the keys of free-form JSON, which a caller has named.
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

/** NULL is compared and ordered as the zero value that it is read as. A missing row is not zero. */
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
 * The condition that a row belongs to a tenant, in every statement.
 * @param value - a placeholder, or another expression for the tenant.
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
 * Excludes the rows of an existing table that belong to no tenant, which no call may reach; follows another
 * condition. @param of - the qualifier of the columns.
 */
export const ofSomeTenant = (
  { existing, tenant }: Pick<ResourceModel, 'existing' | 'tenant'>,
  { text: { quote } }: Pick<Dialect, 'text'>,
  of = '',
): string => (existing && tenant !== undefined ? ` AND ${of}${quote(tenant.column)} IS NOT NULL` : '')

/**
 * True if `soft_delete_key` stands for the condition of partial indexes. The unique indexes of an existing
 * table are what they are.
 */
export const hasDeleteKey = (
  { deleteTime, uniques, existing }: Pick<ResourceModel, 'deleteTime' | 'uniques' | 'existing'>,
  { can }: Pick<Dialect, 'can'>,
): boolean => !can.partialIndexes && deleteTime !== undefined && uniques.length > 0 && !existing

/** A key as text, where a statement keeps that beside it. */
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

/** The kinds of leaves; any other asks whether there is a value. */
const LEAF_TYPES: Readonly<Partial<Record<PlanColumn['kind'], LeafType>>> = {
  [string.name]: 'string',
  [double.name]: 'number',
  [bool.name]: 'boolean',
}

/** NULL where no message is around the field; the zero value where there is one that leaves the field out. */
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
 * The new value of a column. An update time never goes back, whatever the clock does, and a version is added
 * to the stored one.
 * @param name - of the column, as the statement qualifies it.
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

/** A new value of a column; a stored value that the message cannot hold stays. */
export function unlessUnread(name: string, field: Field, value: string, { values }: Dialect): string {
  const shape = field.json?.shape
  const read =
    shape === undefined
      ? values.kinds[field.kind].readable?.(name, field)
      : `${values.json.leaf(name, [], [], shape, (text) => text)} IS NOT NULL`
  return read === undefined ? value : `CASE WHEN ${name} IS NULL OR ${read} THEN ${value} ELSE ${name} END`
}
