import type { RequestContext } from '../../context.js'
import { Aborted, Unavailable, UnknownOutcome } from '../../errors.js'
import { errorForLog } from '../../faults/driver-fault.js'
import type { Call } from '../chain/call.js'
import { messageOfReply, type SingleReply } from '../chain/entity-reply.js'
import type { Reply } from '../chain/interceptor.js'
import type { Logger } from '../observability/logger.js'
import type { HeldKey } from './held-key.js'
import type { Redaction } from '../../resource/redaction.js'
import { toStored } from './stored-reply.js'
import type { Claim, IdempotencyStore, StoredReply } from './idempotency-store.js'
import type { UnrecordedCalls } from './unrecorded-calls.js'

/** The time by which a claim outlives its process, in milliseconds. */
export const LEASE_MS = 10_000
const RENEW_MS = LEASE_MS / 3

/** A call that holds its key. */
export interface ClaimedCall {
  readonly claim: Claim
  /** The key as a string. */
  readonly key: string
  readonly held: HeldKey
  readonly call: Call & { readonly context: RequestContext; readonly requestId: string }
  /** Runs before the store opens a transaction. */
  readonly ahead: (() => Promise<void>) | undefined
  readonly run: (context: RequestContext) => Promise<Reply>
}

/** The objects that all calls of a server share. */
export interface Keeping {
  readonly store: IdempotencyStore
  readonly redaction: Redaction
  readonly logger: Logger
  readonly unrecorded: UnrecordedCalls
}

/**
 * Runs the call and stores its response. A caller whose deadline passes receives its error at once. The key
 * stays claimed until the handler has settled, so that the result is stored for a retry. After the handler
 * has returned, a failure of the store never frees the key, because the effect must not happen twice. The
 * same applies if the handler fails and its effect is unknown.
 * @param settle - called with the response to replay, or undefined if there is none, before any caller
 *   receives a response.
 */
export const runClaimed = (
  { store, redaction, logger, unrecorded }: Keeping,
  { claim, key, held, call, ahead, run }: ClaimedCall,
  settle: (reply: StoredReply | undefined) => void,
): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const renewal = setInterval(() => void claim.renew(LEASE_MS).catch(() => {}), RENEW_MS)
    renewal.unref()
    let reply: Reply | undefined
    let kept: StoredReply | undefined
    let failure: unknown
    let isUnknown = false
    const effect = async (context: RequestContext): Promise<Reply> => {
      const returned = await run(context).catch((error: unknown) => {
        const { running } = held
        isUnknown = error instanceof UnknownOutcome
        if (running === undefined) throw error
        reject(error as Error)
        return running
      })
      const response = messageOfReply(returned as SingleReply)
      reply = response
      try {
        kept = toStored(response, call, redaction)
        if (await inTime(claim.complete(kept, context))) return response
      } catch (error) {
        failure = error
        throw error
      }
      throw new Aborted('another call took over the request_id: retry')
    }

    const giveUp = async (error: unknown): Promise<void> => {
      if (isUnknown) {
        unrecorded.add(key, claim, 'unknown')
        settle(undefined)
        return reject(error as Error)
      }
      if (failure === undefined) {
        // The handler failed, another call holds the key, or the transaction was rolled back.
        await claim.release().catch(() => {})
        settle(undefined)
        return reject(error as Error)
      }
      logger.error(
        { requestId: call.requestId, method: call.path, err: errorForLog(failure) },
        'a response was not stored',
      )
      if (store.transaction !== undefined) {
        unrecorded.addRolledBack(key, LEASE_MS)
        settle(undefined)
        return reject(error as Error)
      }
      unrecorded.add(key, claim, 'failure')
      settle(kept)
      // The effect is committed, so its caller receives the response unless it cannot be sent.
      if (kept === undefined) reject(error as Error)
      else resolve(reply as Reply)
    }

    const attempt = async (): Promise<Reply> => {
      if (store.transaction === undefined) return effect(call.context)
      await ahead?.()
      return store.transaction(call.context, effect)
    }
    attempt()
      .then(
        (reply) => {
          settle(kept)
          resolve(reply)
        },
        (error: unknown) => giveUp(error),
      )
      .finally(() => clearInterval(renewal))
      .catch(reject)
  })

/** Waits for the store. A store that does not respond within a lease counts as failed. */
const inTime = <T>(work: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const late = () => reject(new Unavailable(`the store did not respond within ${LEASE_MS} ms`))
    const timer = setTimeout(late, LEASE_MS).unref()
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
