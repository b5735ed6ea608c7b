import type { RequestContext } from '../../context.js'
import { ErrPreconditionFailed } from '../../errors.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Values } from './new-entity.js'
import { joined } from './open-transaction.js'
import type { ModifyOptions, ReadOptions, TransactionOptions, WriteOptions } from './repository.js'

/** What `modify` needs of a repository: its operations, overridden or not. */
interface Modifiable<E extends object> {
  readonly model: ResourceModel<E>
  transaction<R>(fn: (context: RequestContext) => Promise<R>, options?: TransactionOptions): Promise<R>
  get(key: string, options?: ReadOptions): Promise<E>
  update(key: string, patch: Partial<E>, mask: readonly string[], options?: WriteOptions): Promise<E>
}

const RETRIES = 3

/**
 * Reads an entity with its row locked, changes it and writes it, in a transaction or in a savepoint of the one that the call
 * joins.
 * @param database - what transactions of the repository belong to.
 */
export function modify<E extends object>(
  repository: Modifiable<E>,
  database: object,
  key: string,
  change: (current: E) => Partial<E> | Promise<Partial<E>>,
  { retries, context, where, ...options }: ModifyOptions = {},
): Promise<E> {
  const reach = where === undefined ? {} : { where }
  const asked = retries ?? (joined(database, context) === undefined ? RETRIES : undefined)
  return repository.transaction(
    async (inside) => {
      const current = await repository.get(key, { ...reach, context: inside, lock: 'update' })
      checkEtag(repository.model, current, options.ifMatch)
      const patch: unknown = await change(current)
      const mask = maskOf(repository.model, patch)
      if (mask.length === 0) return current
      return repository.update(key, patch as Partial<E>, mask, { ...options, ...reach, context: inside })
    },
    { ...(context !== undefined && { context }), ...(asked !== undefined && { retries: asked }) },
  )
}

/** Before anything of the caller's has run. */
function checkEtag(model: ResourceModel, current: object, ifMatch: string | undefined): void {
  if (ifMatch === undefined) return
  const { etag } = model
  if (etag === undefined || (current as Readonly<Values>)[etag.property] !== ifMatch)
    throw ErrPreconditionFailed.etag()
}

/** The properties that a patch has of its own, as a mask names them. @throws TypeError for what is no patch. */
function maskOf(model: ResourceModel, patch: unknown): string[] {
  const { name } = model.entity
  if (typeof patch !== 'object' || patch === null || patch instanceof model.entity)
    throw new TypeError(
      `the function of ${name}.modify has to return an object with the properties to change alone, not ${
        patch instanceof Object ? 'the entity' : String(patch)
      }`,
    )
  return Object.keys(patch).map((property) => {
    const secret = [...model.secrets, ...model.credentials].find((field) => field.property === property)
    const proto = secret?.proto ?? model.byProperty.get(property)?.proto
    if (proto === undefined) throw new TypeError(`${name}.modify: ${name} has no property "${property}"`)
    return proto
  })
}
