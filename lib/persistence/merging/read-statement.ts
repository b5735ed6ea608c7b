import type { Field } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { TableName } from '../dialects/catalog/table-definition.js'
import type { Dialect } from '../dialects/dialect.js'
import { quoteTable } from '../dialects/quote-table.js'
import type { Statement } from '../engines/executor/executor.js'
import { named } from '../engines/executor/named.js'

/** What the calls of a statement have in common. */
export interface ReadShape {
  /** The column in which each call looks for a value. */
  readonly by: Field
  /** The column of the tenant, where each call names one. */
  readonly tenant: Field | undefined
  readonly selected: readonly Field[]
  /** Whether a call can find several rows, of which it takes the first by key. */
  readonly isFirst: boolean
}

/**
 * Looks for live rows of many calls (PostgreSQL). Values: the values that are looked for, and where the shape has a tenant, the
 * tenant of each. Returns the number of the call, from 1, before the columns of its row. Calls that find nothing have no row.
 */
export function mergedRead(
  model: ResourceModel,
  dialect: Dialect,
  table: TableName,
  { by, tenant, selected, isFirst }: ReadShape,
): Statement {
  const name = (field: Field) => dialect.quote(field.column)
  const columns = selected
    .map((field) => dialect.selected(field.kind, `t.${name(field)}`, name(field)))
    .join(', ')
  const sought = tenant === undefined ? [by] : [by, tenant]
  const arrays = sought.map(({ kind }, i) => `$${i + 1}::${dialect.arrayType?.(kind)}`)
  const calls = `unnest(${arrays.join(', ')}) WITH ORDINALITY AS k(${sought.map((_, i) => `v${i}`).join(', ')}, o)`
  const condition = sought.map((field, i) => `t.${name(field)} = k.v${i}`)
  if (model.deleteTime !== undefined) condition.push(`t.${name(model.deleteTime)} IS NULL`)
  const rows = `${quoteTable(table, dialect)} t`
  return named(
    isFirst
      ? `SELECT k.o, r.* FROM ${calls} CROSS JOIN LATERAL (SELECT ${columns} FROM ${rows} WHERE ${condition.join(' AND ')} ORDER BY t.${name(model.key)} LIMIT 1) r`
      : `SELECT k.o, ${columns} FROM ${calls} JOIN ${rows} ON ${condition.join(' AND ')}`,
  )
}
