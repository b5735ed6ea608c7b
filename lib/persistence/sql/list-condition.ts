import type { ResourceModel } from '../../resource/resource-model.js'
import type { FilterPlan } from '../contract/list-plan.js'
import type { Dialect } from '../dialects/dialect.js'
import { searchPredicate } from '../dialects/search-predicate.js'
import { toPredicate } from '../dialects/to-predicate.js'
import { equals, type FilterNode, isNull } from '../query/plan.js'

/**
 * The condition of a list or a count. Appends its values to `params`.
 * @param after - the position behind which a page begins.
 */
export function listCondition(
  { tenant: tenantField, deleteTime, search, type }: ResourceModel,
  plan: FilterPlan,
  tenant: string | undefined,
  dialect: Dialect,
  params: unknown[],
  after?: FilterNode,
): string {
  const conditions: string[] = []
  const ask = (node: FilterNode | undefined) => {
    if (node !== undefined) conditions.push(toPredicate(node, dialect, params))
  }
  if (tenant !== undefined && tenantField !== undefined) ask(equals(tenantField, tenant))
  if (deleteTime !== undefined && !plan.showDeleted) ask(isNull(deleteTime))
  ask(plan.filter)
  if (search !== undefined && plan.search !== '')
    conditions.push(searchPredicate(search, type, plan.search, dialect, params))
  ask(after)
  return conditions.join(' AND ')
}
