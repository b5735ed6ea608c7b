import { RequestContext } from '../../context.js'
import { isThenable } from '../../thenable.js'
import { openAround, watched } from '../contract/open-transaction.js'
import type { Repository } from '../contract/repository.js'
import { contextOf, isOverridden } from './repository-view.js'

/**
 * Makes transactions wait for overridden methods of a repository, because these may do more than call the
 * operation.
 *
 * @param names - the names of all operations.
 * @param database - the owner of the repository's transactions.
 */
export function watchOverrides(
  repository: Pick<Repository<object>, 'model'>,
  names: readonly string[],
  database: object,
): void {
  for (const name of names.filter((one) => isOverridden(repository, one))) {
    const method = Reflect.get(repository, name) as (...operands: unknown[]) => unknown
    const called = `${repository.model.entity.name}.${name}`
    const value = (...operands: unknown[]): unknown => {
      const work = Reflect.apply(method, repository, operands)
      const given = contextOf(operands)
      const isOutside = RequestContext.current().transaction === undefined && given.transaction === undefined
      // JavaScript code can return any value.
      if (isOutside || !isThenable(work)) return work
      const promised = work as Promise<unknown>
      const transaction = openAround(database, given)
      const call = transaction?.isOpen === true ? transaction.perform(called, () => promised) : promised
      return watched(database, given, called, call)
    }
    Object.defineProperty(repository, name, { value, configurable: true, writable: true })
  }
}
