import type { FilterScope, Repository, RowOptions } from '../../persistence/contract/repository.js'
import { joinOptions } from '../../persistence/contract/scope.js'
import type { Filter } from '../../persistence/query/filter-template.js'
import { isOfRepository } from '../../persistence/repository/thrown-errors.js'
import { both } from '../authz/decision.js'

/**
 * Runs an operation of the repository, which has to apply the predicate beside the one of its options.
 * @throws TypeError when the operation, which an application may override, never read the predicate.
 */
export async function runWithPredicate<O extends RowOptions, R>(
  repository: Repository<object>,
  operation: string,
  options: O | undefined,
  where: Filter | undefined,
  run: (options: O) => Promise<R>,
): Promise<R> {
  if (where === undefined) return run(joinOptions(options, {}) as O)
  const reach = both(options?.where, where)
  const predicate = { isRead: false }
  const asked = joinOptions(options, {
    get where() {
      predicate.isRead = true
      return reach
    },
  }) as O
  const dropped = () =>
    new TypeError(
      `${repository.constructor.name}.${operation} left out \`where\`, to which the authorizer holds this call: pass its options to super.${operation}`,
    )
  let result: R
  try {
    result = await run(asked)
  } catch (error) {
    // It may say something about a row that the caller may not reach.
    if (!predicate.isRead && isOfRepository(error)) throw dropped()
    throw error
  }
  if (!predicate.isRead) throw dropped()
  return result
}

/** Nobody was asked about the rows of another resource. @throws TypeError for a read that names relations. */
export const refuseRelations = (options: { readonly with?: readonly string[] } | undefined): void => {
  if (options?.with !== undefined)
    throw new TypeError(
      'with: a restricted repository reads its own rows alone: read the others by call.restricted() of their repository',
    )
}

/** Nobody was asked about those rows. @throws TypeError for a filter that may lead to other resources. */
export const refuseThrough = ({ through }: Pick<FilterScope, 'through'> = {}): void => {
  if (through !== undefined)
    throw new TypeError(
      'through: a restricted repository reads its own rows alone: leave it out, or list by the repository itself',
    )
}
