import type { RequestContext } from '../../context.js'
import { ErrConflict, ErrPreconditionFailed } from '../../errors.js'
import { NO_ETAG } from '../../if-match.js'
import { Precondition } from '../../persistence/contract/precondition.js'
import type { ListScope, Repository, WriteOptions } from '../../persistence/contract/repository.js'
import { hasValue } from '../../persistence/query/filter-template.js'
import type { IfMatch } from '../../call.js'
import type { Restrictions } from '../chain/call.js'
import { isKeyTaken } from '../chain/named-errors.js'

/** A request's precondition with its context. */
interface Conditions {
  readonly ifMatch: IfMatch | undefined
  readonly context: RequestContext
}

/**
 * Returns the precondition in the form that a repository accepts, with a single etag. If the header lists
 * several, the current etag is used if it is among them.
 */
export const conditional = async (
  repository: Repository<object>,
  key: string,
  { ifMatch, context }: Conditions,
): Promise<WriteOptions> => {
  if (ifMatch === undefined || ifMatch.any) return { context }
  const [etag = NO_ETAG, another] = ifMatch.etags
  if (another === undefined) return { context, ifMatch: etag }
  const current = await repository.get(key, { context })
  // The write statement compares the etag again.
  return { context, ifMatch: Precondition.of(repository.model, ifMatch)?.matched(current) ?? NO_ETAG }
}

/** Tries each etag until one matches. For an entity that cannot be read beforehand. */
export const firstThatHolds = async <R>(
  { ifMatch, context }: Conditions,
  attempt: (options: WriteOptions) => Promise<R>,
): Promise<R> => {
  if (ifMatch === undefined || ifMatch.any) return attempt({ context })
  const [first = NO_ETAG, ...others] = ifMatch.etags
  let outcome = attempt({ context, ifMatch: first })
  for (const etag of others)
    outcome = outcome.catch((error: unknown) => {
      if (error instanceof ErrPreconditionFailed) return attempt({ context, ifMatch: etag })
      throw error
    })
  return outcome
}

/**
 * Returns the error of a failed create. It states that a deleted row has the key if the caller may list
 * deleted rows.
 */
export const conflictOf = async (
  error: unknown,
  repository: Repository<object>,
  key: string,
  { context, filterAccess }: Pick<Restrictions, 'filterAccess'> & { readonly context: RequestContext },
): Promise<unknown> => {
  const { model } = repository
  if (!(error instanceof ErrConflict) || error.fields.length === 0 || key === '') return error
  if (!isKeyTaken(error, [model.key.proto])) return error
  try {
    const seen = await filterAccess?.deleted(model)
    if (seen === undefined) return error
    const found = await deletedEntity(repository, key, {
      context,
      ...(seen.where !== undefined && { where: seen.where }),
    })
    return found === undefined ? error : new ErrConflict(error.cause, error.fields, true)
  } catch {
    // The call's transaction may have ended. It is only certain that the key is taken.
    return error
  }
}

/** Returns the soft-deleted entity with that key; undefined if there is none. */
export const deletedEntity = async (
  repository: Pick<Repository<object>, 'model' | 'list'>,
  key: string,
  options: Omit<ListScope, 'under'>,
): Promise<object | undefined> => {
  const { key: field, keys, deleteTime } = repository.model
  if (keys.given(key) === undefined) return undefined
  const under = hasValue(field.proto, key)
  const { items } = await repository.list({ showDeleted: true, pageSize: 1 }, { ...options, under })
  const [entity] = items as Readonly<Record<string, unknown>>[]
  return deleteTime === undefined || entity?.[deleteTime.property] === undefined ? undefined : entity
}
