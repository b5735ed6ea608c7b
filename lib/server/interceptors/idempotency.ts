import type { Message } from '@bufbuild/protobuf'
import type { RequestContext } from '../../context.js'
import { Aborted, AshlarError, InvalidArgument } from '../../errors.js'
import { fingerprintOf } from '../idempotency/fingerprint.js'
import { HeldKey } from '../idempotency/held-key.js'
import type { Call } from '../chain/call.js'
import type { Method } from '../chain/method.js'
import type { Interceptor, Next, Passed, Reply } from '../chain/interceptor.js'
import type { Logger } from '../observability/logger.js'
import type { Redaction } from '../../resource/redaction.js'
import { type Keeping, LEASE_MS, runClaimed } from '../idempotency/run-claimed.js'
import { messageIn, sendHeaders } from '../idempotency/stored-reply.js'
import type { Handler } from '../chain/handler.js'
import {
  type ClaimOutcome,
  type IdempotencyStore,
  keyText,
  type StoredReply,
} from '../idempotency/idempotency-store.js'
import { UnrecordedCalls } from '../idempotency/unrecorded-calls.js'
import { isAnonymous } from '../authz/is-anonymous.js'
import type { RuleSet } from '../authz/rules.js'
import type { Authorized } from './authorization.js'
import type { RequestId } from './request-id.js'

const LONGEST_PAUSE_MS = 250

/** Verbs of methods that change nothing, so that an idempotency key means nothing to them. */
export const READING: ReadonlySet<string | undefined> = new Set(['get', 'list', 'watch'])

type Needs = RequestId & Authorized & Passed<'validateOnly'>

/** The result for a key; undefined when its call failed. */
type Outcome = { readonly fingerprint: string; readonly reply: StoredReply } | undefined

/**
 * Runs a call with a request id (AIP-155) once. Duplicates wait for the first call, without holding a
 * connection, and get its reply. Errors are not stored. Only one call per key and process queries the store.
 */
export const idempotency = (
  store: IdempotencyStore,
  redaction: Redaction,
  logger: Logger,
  rules: RuleSet,
): Interceptor<unknown, Needs> => {
  const leaders = new Map<string, Promise<Outcome>>()
  const unrecorded = new UnrecordedCalls()
  const keeping: Keeping = { store, redaction, logger, unrecorded }
  return (next, { method, handler }) => {
    if (READING.has(rules.declared(method.path)?.verb)) return next
    if (method.clientStreams) return (call) => next(withoutKey(call))
    if (method.isStreaming) return next
    return (call) => {
      const requestId = retryIdOf(call)
      return requestId === undefined ? next(call) : once(requestId, call, next, handler)
    }
  }

  async function once<C extends Call & Needs>(
    requestId: string,
    call: C,
    next: Next<C>,
    handler: Handler,
  ): Promise<Reply> {
    let held: HeldKey | undefined
    const { principal, path, method, ifMatch, ignoredMask } = call
    const key = { tenant: principal.tenant, subject: principal.subject, method: path, requestId }
    const text = keyText(key)
    const fingerprint = fingerprintOf(call.request as Message, method.desc.input, [ifMatch, ignoredMask])

    const follow = async (leader: Promise<Outcome>): Promise<Reply | undefined> => {
      const outcome = await bounded(leader, call)
      return outcome === undefined ? undefined : replay(outcome, fingerprint, call, handler)
    }

    const lead = async (settle: (outcome: Outcome) => void): Promise<Reply> => {
      let pauseMs = 5
      for (;;) {
        const claimed = await inTime(store.claim(key, fingerprint, LEASE_MS), call)
        if (claimed.state === 'claimed') {
          held = new HeldKey()
          call.key = held
          const run = async (context: RequestContext) => {
            call.context = context
            return next(call)
          }
          const { claim } = claimed
          const ahead = handler.ahead && (() => handler.ahead?.(call as never) as Promise<void>)
          return runClaimed(keeping, { claim, key: text, held, call, ahead, run }, (reply) =>
            settle(reply && { fingerprint, reply }),
          )
        }
        assertSame(claimed.fingerprint, fingerprint)
        if (claimed.state === 'done') {
          settle(claimed)
          return replay(claimed, fingerprint, call, handler)
        }
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
        await bounded(pause(pauseMs * (0.5 + Math.random() / 2)), call)
      }
    }

    for (;;) {
      if (unrecorded.has(text)) throw new Aborted(UNRECORDED)
      const leader = leaders.get(text)
      if (leader === undefined) {
        let settle: (outcome: Outcome) => void = () => {}
        leaders.set(text, new Promise((resolve) => (settle = resolve)))
        const mine = leaders.get(text)
        const done = (outcome: Outcome) => {
          if (leaders.get(text) === mine) leaders.delete(text)
          settle(outcome)
        }
        return lead(done).catch((error: unknown) => {
          if (held?.running === undefined) done(undefined)
          throw error
        })
      }
      const reply = await follow(leader)
      if (reply !== undefined) return reply
    }
  }
}

const UNRECORDED =
  'a call with this request_id has run, or may have, and its response could not be stored: read the resource before you try again'

/** The result of the claim, unless the time of the call ends first. A late claim is released. */
const inTime = async (claiming: Promise<ClaimOutcome>, { time }: Call): Promise<ClaimOutcome> => {
  try {
    return await time.bound(claiming)
  } catch (error) {
    const giveBack = (late: ClaimOutcome) => (late.state === 'claimed' ? late.claim.release() : undefined)
    claiming.then(giveBack).catch(() => {})
    throw error
  }
}

const replay = async (
  outcome: NonNullable<Outcome>,
  fingerprint: string,
  call: Call & Needs,
  handler: Handler,
): Promise<Reply> => {
  assertSame(outcome.fingerprint, fingerprint)
  const reply = messageIn(outcome.reply, call)
  if (call.rowAccess !== undefined) await mayReplay(reply, call, handler)
  sendHeaders(outcome.reply, call)
  return reply
}

/** The caller's rights may have changed since, and so may the row. */
const mayReplay = (reply: Message, call: Call & Needs, handler: Handler): Promise<void> => {
  if (handler.checkReplay !== undefined) return handler.checkReplay(reply, call)
  throw new AshlarError(
    'FAILED_PRECONDITION',
    'the call with this request_id was made, and whether its answer may still be shown is decided by row: read the resource instead of repeating the call',
    { details: [{ kind: 'errorInfo', reason: 'RESPONSE_NOT_REPEATED' }] },
  )
}

const assertSame = (known: string, fingerprint: string): void => {
  if (known !== fingerprint)
    throw new InvalidArgument(
      'request_id',
      'was used for a different request before: send another request_id or Idempotency-Key',
    )
}

/**
 * Rejects a key on a client's stream, which is read while the handler runs and cannot be compared with
 * another one.
 */
const withoutKey = <C extends Call>(call: C): C => {
  const { metadata, method, requests } = call
  if (metadata.get('idempotency-key') !== undefined)
    throw new InvalidArgument(
      'idempotency-key',
      `${method.desc.name} is not repeated by a key: call it without Idempotency-Key`,
    )
  if (requests !== undefined && method.requestId !== undefined)
    call.requests = eachWithoutKey(requests, method)
  return call
}

async function* eachWithoutKey(requests: AsyncIterable<Message>, method: Method): AsyncIterable<Message> {
  for await (const request of requests) {
    if (method.requestId?.(request))
      throw new InvalidArgument(
        'request_id',
        `${method.desc.name} is not repeated by a key: leave it out of the messages of the stream`,
      )
    yield request
  }
}

/** Undefined for a call without idempotency: it streams, only validates, or has no principal. */
const retryIdOf = (call: Call & Needs): string | undefined => {
  const { method, request, validateOnly, principal, metadata } = call
  if (request === undefined || validateOnly) return undefined
  const header = metadata.get('idempotency-key') ?? ''
  const field = method.requestId?.(request) ?? ''
  const requestId = field === '' ? header : field
  if (requestId === '' || isAnonymous(principal)) return undefined
  if (header !== '' && header !== requestId) {
    throw new InvalidArgument(
      'request_id',
      'differs from Idempotency-Key: send one of them, or the same in both',
    )
  }
  if (!/^[^\p{C}]{1,255}$/u.test(requestId)) {
    throw new InvalidArgument('request_id', 'must be 1 to 255 characters, none of them a control character')
  }
  return requestId
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** The work, unless the time of the call ends first. */
const bounded = <T>(work: Promise<T>, { time: { signal } }: Call): Promise<T> =>
  new Promise((resolve, reject) => {
    const late = () => reject(new Aborted('another call with this request_id is still running: retry later'))
    if (signal.aborted) return late()
    signal.addEventListener('abort', late, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', late))
  })
