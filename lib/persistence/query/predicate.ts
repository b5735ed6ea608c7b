import type { ResourceModel } from '../../resource/resource-model.js'
import { parseOwnFilter } from './filter.js'
import type { Filter } from './filter-template.js'
import type { FilterNode } from './query-plan.js'
import { reachable } from './reachable.js'

/**
 * Parses a condition of server code. Returns undefined if there is none. Because the result is a plan node, a
 * caller's filter cannot escape it. It may name every field except secrets, including those that callers
 * cannot filter by.
 *
 * @throws TypeError if the condition is invalid, because the application wrote it.
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
