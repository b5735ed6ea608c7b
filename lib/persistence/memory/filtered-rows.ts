import type { ResourceModel } from '../../resource/resource-model.js'
import { type FilterPlan, tenantNode } from '../contract/list-plan.js'
import type { Values } from '../contract/new-entity.js'
import type { Scope } from '../contract/scope.js'
import { and, type FilterNode, isNull } from '../query/query-plan.js'
import { toTest } from './filter-test.js'
import type { RowsBeside } from './rows-beside.js'

/**
 * Returns a function that reads the rows of all pages of a list.
 *
 * @param after - the cursor after which rows begin.
 */
export function rowsOf<E extends object>(
  model: ResourceModel<E>,
  { table, read, some }: RowsBeside<E>,
  plan: FilterPlan,
  scope: Pick<Scope, 'tenant'>,
  after?: FilterNode,
): () => Values[] {
  const live = model.deleteTime === undefined || plan.showDeleted ? undefined : isNull(model.deleteTime)
  const test = toTest(and(tenantNode(model, scope), live, plan.filter, after), read, some)
  return () => table.filter(test)
}
