import type { ResourceModel } from '../../resource/resource-model.js'
import { type FilterPlan, tenantNode } from '../contract/list-plan.js'
import type { Values } from '../contract/new-entity.js'
import type { Scope } from '../contract/scope.js'
import { and, type FilterNode, isNull } from '../query/query-plan.js'
import { toTest } from './filter-test.js'
import type { RowsBeside } from './rows-beside.js'

/**
 * The rows that a list has on all of its pages, as a function that reads them.
 * @param after - where a page begins.
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
