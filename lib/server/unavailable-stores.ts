import type { RequestContext } from '../context.js'
import { AshlarError, Internal, Unavailable } from '../errors.js'
import { isInstance } from '../faults/readable.js'
import { isSchemaMismatch } from '../persistence/engines/errors/constraint-error.js'
import type { Claim, IdempotencyStore } from './idempotency/idempotency-store.js'
import type { OperationStore } from './operations/operation-store.js'

/**
 * Wraps the application's store. Any error that is not meant for callers is an outage: it becomes
 * Unavailable, with the cause for the log.
 */
export function idempotencyStoreOf(store: IdempotencyStore): IdempotencyStore {
  const reported = telling('the store of responses failed: retry later')
  const claimOf = (claim: Claim): Claim => ({
    renew: (leaseMs) => reported(() => claim.renew(leaseMs)),
    complete: (reply, context) => reported(() => claim.complete(reply, context)),
    release: () => reported(() => claim.release()),
  })
  return {
    claim: (key, fingerprint, leaseMs) =>
      reported(async () => {
        const outcome = await store.claim(key, fingerprint, leaseMs)
        return outcome.state === 'claimed' ? { state: 'claimed', claim: claimOf(outcome.claim) } : outcome
      }),
    ...transactionOf(store, reported),
    ...checkOf(store),
  }
}

/** Wraps the application's operation store in the same way. */
export function operationStoreOf(store: OperationStore): OperationStore {
  const reported = telling('the operation store failed: retry later')
  return {
    create: (record, owner, leaseMs) => reported(() => store.create(record, owner, leaseMs)),
    write: (name, owner, change, leaseMs) => reported(() => store.write(name, owner, change, leaseMs)),
    find: (tenant, name) => reported(() => store.find(tenant, name)),
    list: (tenant, after, limit) => reported(() => store.list(tenant, after, limit)),
    requestCancel: (tenant, name) => reported(() => store.requestCancel(tenant, name)),
    remove: (tenant, name) => reported(() => store.remove(tenant, name)),
    ...checkOf(store),
  }
}

const checkOf = (store: IdempotencyStore | OperationStore): { checkWrites?: () => Promise<void> } =>
  store.checkWrites === undefined ? {} : { checkWrites: async () => store.checkWrites?.() }

/**
 * Wraps the store's transaction. An error of the effect is not the store's, and neither is a mistake of the
 * code inside, such as a call that was not awaited.
 */
const transactionOf = (store: IdempotencyStore, reported: Telling): Pick<IdempotencyStore, 'transaction'> => {
  const transaction = store.transaction?.bind(store)
  if (transaction === undefined) return {}
  return {
    async transaction(context, effect) {
      const seen: { ran: boolean; failure?: { readonly error: unknown } | undefined } = { ran: false }
      const watched = async (inside: RequestContext) => {
        seen.ran = true
        seen.failure = undefined
        try {
          return await effect(inside)
        } catch (error) {
          seen.failure = { error }
          throw error
        }
      }
      try {
        return await transaction(context, watched)
      } catch (error) {
        const { failure, ran } = seen
        const isOfEffect = context.end?.aborted === true || (ran && isInstance(error, TypeError))
        if (failure === undefined && !isOfEffect) return reported(() => Promise.reject(error as Error))
        throw failure === undefined || isInstance(error, AshlarError) ? error : failure.error
      }
    },
  }
}

type Telling = <T>(ask: () => Promise<T>) => Promise<T>

const telling =
  (message: string): Telling =>
  async (ask) => {
    try {
      return await ask()
    } catch (error) {
      if (isInstance(error, AshlarError)) throw error
      throw isSchemaMismatch(error) ? new Internal(error) : new Unavailable(message, error)
    }
  }
