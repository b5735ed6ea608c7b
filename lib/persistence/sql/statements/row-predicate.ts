import type { Field } from '../../../resource/fields/field.js'
import type { ResourceModel } from '../../../resource/resource-model.js'
import { equalSql, isOfTenant, ofSomeTenant } from '../../dialects/column-sql.js'
import type { Dialect } from '../../dialects/dialect.js'
import type { Placeholders } from '../../engines/executor/placeholders.js'
import type { Taken } from '../../rows/parents.js'

/** The conditions of an operation in addition to the key. */
export interface RowPredicate {
  readonly tenant: boolean
  readonly etag?: boolean
  /**
   * Compares the tenant with a parameter wherever a table is used. A distributed database determines the
   * server from it.
   */
  readonly isRouted?: boolean
  /** A further condition. Its placeholders are already numbered, and its values come last. */
  readonly where?: string | undefined
}

/**
 * Returns the condition for a row. Parameters: the key, and if present the tenant, the etag and the values of
 * `where`.
 */
export function conditionOf(
  model: ResourceModel,
  dialect: Dialect,
  text: Placeholders,
  { tenant, etag, where }: RowPredicate,
): string {
  const { key, etag: etagField } = model
  const name = ({ column }: Field) => dialect.text.quote(column)
  const equal = (field: Field) => equalSql(name(field), field, text.bind(field), dialect)
  const parts = [equal(key)]
  if (tenant) parts.push(isOfTenant(model, (field) => text.bind(field), dialect))
  if (etag === true) parts.push(equal(etagField as Field))
  if (where !== undefined) parts.push(where)
  return `${parts.join(' AND ')}${tenant ? '' : ofSomeTenant(model, dialect)}`
}

export const also = (where: string | undefined): string => (where === undefined ? '' : ` AND ${where}`)

export const NOTHING_TAKEN: readonly Taken[] = []

/** Returns the beginning of a write that locks these parents, and the source of its values. */
export function takenFrom(
  text: Placeholders,
  parents: readonly Taken[],
): readonly [begin: string, from: string] {
  if (parents.length === 0) return ['', '']
  const rows = parents.map(({ write }, i) => `p${i} AS (${write(text)})`)
  return [`WITH ${rows.join(', ')} `, parents.map((_, i) => `p${i}`).join(', ')]
}

export const shapeBelow = (shape: string, parents: readonly Taken[]): string =>
  parents.reduce((text, { relation, where }) => `${text}\0\0${relation.property} ${where}`, shape)

/** Returns an id that is the same for statements of one kind. */
export const shapeOf = (kind: string, predicate: RowPredicate, fields: readonly Field[]): string => {
  const { tenant, etag, where } = predicate
  let shape = `${kind} ${tenant} ${etag} ${where}`
  for (const { column } of fields) shape += `\0${column}`
  return shape
}
