import type { ResourceModel } from '../../resource/resource-model.js'
import { parseOwnFilter } from './filter.js'
import type { Filter } from './filter-template.js'
import type { FilterNode } from './query-plan.js'
import { reachable } from './reachable.js'

/**
 * What the server's own code holds rows to, as a plan node, which nobody's filter can reach out of; undefined
 * where it asks nothing. It may name every field of the entity, those that no caller may filter by included,
 * but no secret.
 * @throws TypeError for one that is wrong: its author is no caller.
 */
export const predicateOf = (model: ResourceModel, predicate: Filter | undefined): FilterNode | undefined => {
  if (predicate === undefined) return undefined
  try {
    const node = parseOwnFilter(predicate, model.predicateColumns)
    return node && reachable(node)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new TypeError(`${model.entity.name}: a predicate of the server's own code is wrong: ${why}`, {
      cause: error,
    })
  }
}
