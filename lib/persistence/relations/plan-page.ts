import type { ResourceModel } from '../../resource/resource-model.js'
import {
  checkLimit,
  type CountPlan,
  type ListPlan,
  type PagingOptions,
  planFilter,
  planList,
} from '../contract/list-plan.js'
import type { CountOptions, ListFilter, ListOptions, ListScope } from '../contract/repository.js'
import type { Scope } from '../contract/scope.js'
import { fieldsThrough } from './fields-through.js'

/**
 * Returns the parameters of a list, including its relations.
 *
 * @throws InvalidArgument with the invalid field.
 */
export const planPage = <E extends object>(
  model: ResourceModel<E>,
  list: ListOptions<E>,
  scope: Scope,
  paging: PagingOptions,
  options: ListScope = {},
): ListPlan =>
  planList(model, list, scope, paging, {
    under: options.under,
    behind: fieldsThrough(model, scope, options),
  })

/**
 * Returns the parameters of a count.
 *
 * @throws InvalidArgument like {@link planPage}.
 * @throws TypeError if the limit is invalid.
 */
export const planCount = (
  model: ResourceModel,
  list: ListFilter,
  scope: Scope,
  { limit, ...options }: CountOptions,
): CountPlan => {
  const plan = planFilter(model, list, scope, {
    under: options.under,
    behind: fieldsThrough(model, scope, options),
  })
  checkLimit(limit)
  return { ...plan, limit }
}
