import type { ResourceModel } from '../../resource/resource-model.js'
import { parseOwnFilter } from './filter.js'
import type { Filter } from './filter-template.js'
import type { FilterNode } from './query-plan.js'
import { reachable } from './reachable.js'

/**
 * A condition of the server's own code as a plan node, which no filter can escape; undefined if there is
 * none. It may name every field of the entity, even those that callers may not filter by, but no secret.
 * @throws TypeError if it is invalid: the application wrote it, not the caller.
 */
export const predicateOf = (model: ResourceModel, predicate: Filter | undefined): FilterNode | undefined => {
  if (predicate === undefined) return undefined
  try {
    const node = parseOwnFilter(predicate, model.predicateColumns)
    return node && reachable(node)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new TypeError(`${model.entity.name}: a predicate in the server's own code is invalid: ${why}`, {
      cause: error,
    })
  }
}
