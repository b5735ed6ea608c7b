import type { ListPlan } from '../contract/list-plan.js'
import type { Page } from '../contract/repository.js'
import type { Scope } from '../contract/scope.js'
import { checkCursor } from '../dialects/check-cursor.js'
import { keysetPredicate } from '../query/keyset.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { compareBy } from './compare-by.js'
import type { RowsBeside } from './rows-beside.js'
import { rowsOf } from './filtered-rows.js'
import { fittingIn } from '../bytes/counted-bytes.js'

/**
 * Returns a function that reads a page of a list.
 *
 * @throws InvalidArgument if the page token belongs to another type.
 */
export function pageOf<E extends object>(
  model: ResourceModel<E>,
  beside: RowsBeside<E>,
  plan: ListPlan,
  scope: Pick<Scope, 'tenant'>,
  maxBytes?: number,
): () => Page<E> {
  const { table, read } = beside
  checkCursor(plan.cursor, plan.terms)
  const after = plan.cursor?.kind === 'keyset' ? keysetPredicate(plan.terms, plan.cursor.values) : undefined
  const rowsFound = rowsOf(model, beside, plan, scope, after)
  const start = plan.cursor?.kind === 'offset' ? plan.cursor.offset : 0
  return () => {
    const rows = rowsFound().sort(compareBy(plan.terms, read))
    const found = rows.slice(start, start + plan.size)
    const entities = found.map((row) => table.entityOf(row))
    const count = maxBytes === undefined ? found.length : fittingIn(model, found, entities, maxBytes)
    const last = found[count - 1]
    const more = last !== undefined && rows.length > start + count
    return {
      items: entities.slice(0, count),
      nextPageToken: more
        ? plan.nextPageToken(
            plan.terms.map(({ column }) => read(last, column)),
            count,
          )
        : '',
    }
  }
}
