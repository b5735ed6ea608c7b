import type { Field } from '../../../resource/fields/field.js'
import type { ResourceModel } from '../../../resource/resource-model.js'
import { kindOf } from '../../../resource/kinds/kinds.js'
import { ORDERED_LENGTH, type ListPlan } from '../../contract/list-plan.js'
import { exactSql } from '../../dialects/column-sql.js'
import type { Dialect } from '../../dialects/dialect.js'
import type { ListedRows, Unserved } from '../../engines/executor/executor.js'
import type { OrderTerm } from '../../query/order-by.js'
import { rulesOf } from '../../query/plan-rules.js'
import type { FilterNode, PlanColumn } from '../../query/query-plan.js'
import type { Statements } from './statements.js'

/** Describes a list for the log of slow lists, with the index that reads the fewest rows. */
export function listedRows(
  { model, dialect, table }: Statements,
  { terms, filter, showDeleted }: ListPlan,
  tenant: string | undefined,
): ListedRows {
  const order = terms.map((term) => termText(term, model)).join(', ')
  const known = { entity: model.entity.name, table: table.name, order }
  // Every index begins with the tenant, so none serves this list.
  if (model.tenant !== undefined && tenant === undefined)
    return { ...known, index: undefined, unserved: { why: 'tenants' } }
  const equal = equalFields(filter, model)
  const rest = terms.filter(({ column }) => !equal.includes(fieldOf(column, model) as Field))
  const { fields, unserved } = ordered(rest, model, dialect)
  const isUsed = unserved === undefined || dialect.can.sortsInPart
  const wanted = [...equal, ...(isUsed ? fields : [])]
  const on = wanted.map(({ property }) => property)
  const isDeclared = indexesOf(model, showDeleted).some((index) =>
    wanted.every((field, i) => index[i] === field),
  )
  return { ...known, index: on.length === 0 ? undefined : { on, isDeclared }, unserved }
}

/** Returns the fields by which an index may sort, and the reason why it cannot continue. */
function ordered(
  terms: readonly OrderTerm[],
  model: ResourceModel,
  dialect: Dialect,
): { readonly fields: readonly Field[]; readonly unserved: Unserved | undefined } {
  const fields: Field[] = []
  for (const { column, direction } of terms) {
    const field = fieldOf(column, model)
    const named = { field: nameOf(column, model) }
    const unserved: Unserved | undefined =
      field === undefined
        ? { why: 'elsewhere', ...named }
        : column.first !== undefined
          ? { why: 'unbounded', ...named }
          : exactSql('', field, dialect) !== ''
            ? { why: 'collation', ...named }
            : column.nullable && !dialect.can.nullsInOrder
              ? { why: 'nullable', ...named }
              : direction !== terms[0]?.direction
                ? { why: 'directions' }
                : undefined
    if (field === undefined || unserved !== undefined) return { fields, unserved }
    fields.push(field)
  }
  return { fields, unserved: undefined }
}

/**
 * Returns the fields, other than the tenant, that have one value in all listed rows and can be part of an
 * index.
 */
function equalFields(filter: FilterNode | undefined, model: ResourceModel): readonly Field[] {
  const nodes = filter?.kind === 'and' ? filter.nodes : [filter]
  const found = nodes.flatMap((node) => {
    if (node?.kind !== 'compare' || node.op !== '=' || node.key !== undefined || node.isRead === true)
      return []
    const field = fieldOf(node.column, model)
    return field !== undefined && field !== model.tenant && isIndexable(field) ? field : []
  })
  return [...new Set(found)]
}

const isIndexable = (field: Field): boolean =>
  kindOf(field).isSortable &&
  field.role !== 'secret' &&
  field.role !== 'credential' &&
  !rulesOf(field).exceeds(ORDERED_LENGTH, field)

/** Returns the columns of each index after the tenant. */
function indexesOf(model: ResourceModel, showDeleted: boolean): readonly (readonly Field[])[] {
  const { key, tenant, createTime, updateTime, deleteTime } = model
  const times = [createTime, updateTime].filter((time) => time?.filterable === true) as Field[]
  // Unique indexes only contain live rows.
  const uniques = deleteTime === undefined || !showDeleted ? model.uniques : []
  return [
    [key],
    ...times.map((time) => [time, key]),
    ...[...model.indexes, ...uniques]
      .filter(({ where, method }) => where === undefined && method === undefined)
      .map(({ fields }) => fields.filter((field) => field !== tenant)),
  ]
}

/** Returns the field that is a whole column of the list's own table. */
const fieldOf = ({ of, inside, column }: PlanColumn, { fields }: ResourceModel): Field | undefined =>
  of === undefined && inside === undefined ? fields.find((field) => field.column === column) : undefined

const nameOf = ({ of, column }: PlanColumn, model: ResourceModel): string => {
  const { fields, type } = of?.target ?? model
  const name = fields.find((field) => field.column === column)?.proto ?? column
  return of === undefined ? name : `${type}.${name}`
}

const termText = ({ column, direction }: OrderTerm, model: ResourceModel): string =>
  `${nameOf(column, model)}${direction === 'desc' ? ' desc' : ''}`
