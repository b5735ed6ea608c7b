import type { RequestContext } from '../../context.js'
import { InvalidArgument } from '../../errors.js'
import { isOwning } from '../../resource/relations/relation.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Patch } from '../../resource/values/increment.js'
import { attemptsOf } from '../contract/attempts.js'
import type { Values } from '../contract/new-entity.js'
import { joined } from '../contract/open-transaction.js'
import { Precondition } from '../contract/precondition.js'
import { forWrite } from '../contract/row-lock.js'
import { resolveMask } from '../contract/update-mask.js'
import type { ModifyOptions, ReadOptions, TransactionOptions, WriteOptions } from '../contract/repository.js'

/** The operations of a repository that `modify` calls, including overrides. */
export interface Modifiable<E extends object, K = unknown> {
  readonly model: ResourceModel<E>
  transaction<R>(fn: (context: RequestContext) => Promise<R>, options?: TransactionOptions): Promise<R>
  get(key: K, options?: ReadOptions): Promise<E>
  update(key: K, patch: Patch<E>, mask: readonly string[], options?: WriteOptions): Promise<E>
}

/** The default maximum number of attempts of a transaction. */
export const ATTEMPTS = 4

/**
 * Reads an entity and locks its row, changes it and writes it, in a transaction or in a savepoint of the
 * transaction that the call joins.
 *
 * @param database - the owner of the repository's transactions.
 */
export async function modify<E extends object, K>(
  repository: Modifiable<E, K>,
  database: object,
  key: K,
  change: (current: E) => Patch<E> | Promise<Patch<E>>,
  options: ModifyOptions = {},
): Promise<E> {
  const { context, ifMatch, where } = options
  const reach = where === undefined ? {} : { where }
  const asked =
    attemptsOf(options, `${repository.model.entity.name}.modify`) ??
    (joined(database, context) === undefined ? ATTEMPTS : undefined)
  return repository.transaction(
    async (inside) => {
      const current = await repository.get(key, { ...reach, context: inside, ...forWrite })
      // Check the etag before the caller's code runs.
      Precondition.of(repository.model, ifMatch)?.check(current)
      const patch: unknown = await change(current)
      const mask = maskOf(
        repository.model,
        patch,
        options,
        `the function of ${repository.model.entity.name}.modify`,
      )
      if (mask.length === 0) return current
      return repository.update(key, patch as Patch<E>, mask, { ...options, context: inside })
    },
    { ...(context !== undefined && { context }), ...(asked !== undefined && { maxAttempts: asked }) },
  )
}

/**
 * Returns the own properties of a patch as a mask.
 *
 * @throws TypeError if the patch is invalid or a property is not writable. It is not an InvalidArgument,
 *   because no client named the property.
 */
export function maskOf(model: ResourceModel, patch: unknown, options: WriteOptions, name: string): string[] {
  if (typeof patch !== 'object' || patch === null || patch instanceof model.entity)
    throw new TypeError(
      `${name} requires an object with only the properties to change, not ${
        patch instanceof Object ? 'the entity' : String(patch)
      }`,
    )
  const mask = Object.keys(patch).map((property) => {
    const other = [...model.secrets, ...model.credentials, ...model.computed].find(
      (field) => field.property === property,
    )
    const relation = model.relations.find((one) => one.property === property)
    const field = relation && isOwning(relation) ? relation.reference : model.byProperty.get(property)
    const embedded = model.embedded.find((one) => one.property === property)
    const proto = other?.proto ?? field?.proto ?? embedded?.proto
    if (proto === undefined)
      throw new TypeError(`${name}: ${model.entity.name} has no property "${property}"`)
    return proto
  })
  if (mask.length === 0) return mask
  try {
    resolveMask(model, patch as Values, mask, options)
  } catch (error) {
    if (!(error instanceof InvalidArgument)) throw error
    throw new TypeError(`${name}: ${error.message}`, { cause: error })
  }
  return mask
}
