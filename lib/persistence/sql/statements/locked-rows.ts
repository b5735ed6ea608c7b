import type { Field } from '../../../resource/fields/field.js'
import { equalSql, isOfTenant, ofSomeTenant } from '../../dialects/column-sql.js'
import type { InsertedTable } from './insert-text.js'
import { also, type RowPredicate } from './row-predicate.js'

type LockedTable = Pick<InsertedTable, 'model' | 'dialect' | 'table'>

/**
 * Returns the beginning of a statement, which defines `l`: the keys of live rows, locked one after the other
 * in the given order, with a value per field. The planner does not see the tenant and the number of keys. For
 * a tenant that is not yet in the statistics, it would choose the wrong index, which takes ten times as long.
 */
export function lockedRows(
  { model, dialect, table }: LockedTable,
  { tenant, where, isRouted }: RowPredicate,
  fields: readonly Field[],
): string {
  const first = tenant ? 2 : 1
  const {
    values: { kinds },
    text: { quote },
  } = dialect
  const { key, deleteTime } = model
  const arrays = [key, ...fields].map((f, i) => `$${i + first}::${kinds[f.kind].arrayType?.(f)}`)
  const names = ['key', ...fields.map((_, i) => `v${i}`), 'o']
  const owner = tenant ? (model.tenant as Field) : undefined
  const type = owner && kinds[owner.kind].arrayType?.(owner).replace(/\[\]$/, '')
  const mine =
    owner === undefined
      ? ofSomeTenant(model, dialect)
      : ` AND ${isOfTenant(model, (field) => (isRouted ? kinds[field.kind].placeholder(field, 1) : `(SELECT $1::${type})`), dialect)}`
  const requested = equalSql(quote(key.column), key, 'k.key', dialect)
  const live = deleteTime === undefined ? '' : ` AND ${quote(deleteTime.column)} IS NULL`
  return (
    `WITH l AS MATERIALIZED (SELECT k.*, r.tenant FROM unnest(${arrays.join(', ')}) WITH ORDINALITY AS k(${names.join(', ')}) ` +
    `CROSS JOIN LATERAL (SELECT ${owner === undefined ? '1' : quote(owner.column)} AS tenant FROM ${table} WHERE ${requested}${mine}${live}${also(where)} FOR UPDATE) r) `
  )
}

/** Returns the condition that `t` is the row of `l`. */
export function sameRow({ model, dialect }: LockedTable, { tenant, isRouted }: RowPredicate): string {
  const whose = (field: Field) =>
    isRouted ? dialect.values.kinds[field.kind].placeholder(field, 1) : 'l.tenant'
  const owned = tenant ? ` AND ${isOfTenant(model, whose, dialect, 't.')}` : ''
  const { key } = model
  return `${equalSql(`t.${dialect.text.quote(key.column)}`, key, 'l.key', dialect)}${owned}`
}
