import type { Message } from '@bufbuild/protobuf'
import type { RequestContext } from '../../context.js'
import { Aborted, AshlarError, InvalidArgument } from '../../errors.js'
import type { Call, Restrictions } from '../chain/call.js'
import type { HandledCall, Handler } from '../chain/handler.js'
import type { Reply, ReplyOrPromise } from '../chain/interceptor.js'
import { fingerprintOf } from './fingerprint.js'
import { HeldKey } from './held-key.js'
import {
  type Claim,
  type ClaimOutcome,
  type IdempotencyKey,
  keyText,
  type StoredReply,
} from './idempotency-store.js'
import { type Keeping, LEASE_MS, runClaimed } from './run-claimed.js'
import { messageIn, sendHeaders } from './stored-reply.js'

/** The stored reply of a key; undefined if its call failed. */
type Outcome = { readonly fingerprint: string; readonly reply: StoredReply } | undefined

/** The calls of this process that claim a key or run, by the key's string. */
export type Leaders = Map<string, Promise<Outcome>>

/** A call after authorization. */
export type RepeatableCall = Call & Restrictions & Pick<HandledCall, 'principal' | 'context' | 'requestId'>

/** A state of a keyed call. */
type State =
  | { readonly name: 'wait' }
  | { readonly name: 'claim'; readonly pauseMs: number }
  | { readonly name: 'run'; readonly claim: Claim }
  | { readonly name: 'replay'; readonly outcome: NonNullable<Outcome> }

const FIRST_PAUSE_MS = 10
const MAX_PAUSE_MS = 250

/**
 * A call with an idempotency key, which runs once. Its states are:
 * - `wait`: waits for a call of this process that has the same key. If there is none, this call leads.
 * - `claim`: claims the key in the store, and retries while a call of another process holds it.
 * - `run`: the key is claimed and the handler runs. Its response is stored.
 * - `replay`: the key has a response. It is returned if the requests are equal and the caller may still get
 *   it.
 *
 * If a leading call fails before its handler runs, it releases the key and a waiting call leads. No call
 * holds a connection while it waits.
 */
export class KeyedCall {
  readonly #key: IdempotencyKey
  readonly #text: string
  readonly #fingerprint: string
  #settle: ((outcome: Outcome) => void) | undefined
  #held: HeldKey | undefined

  constructor(
    requestId: string,
    private readonly call: RepeatableCall,
    private readonly handler: Handler,
    private readonly keeping: Keeping,
    private readonly leaders: Leaders,
    private readonly next: () => ReplyOrPromise,
  ) {
    const { principal, path, method, ifMatch, ignoredMask } = call
    this.#key = { tenant: principal.tenant, subject: principal.subject, method: path, requestId }
    this.#text = keyText(this.#key)
    this.#fingerprint = fingerprintOf(call.request as Message, method.desc.input, [ifMatch, ignoredMask])
  }

  async reply(): Promise<Reply> {
    try {
      for (let state: State = { name: 'wait' }; ;) {
        if (state.name === 'run') return await this.#run(state.claim)
        if (state.name === 'replay') return await this.#replay(state.outcome)
        state = state.name === 'wait' ? await this.#wait() : await this.#claim(state.pauseMs)
      }
    } catch (error) {
      if (this.#held?.running === undefined) this.#release(undefined)
      throw error
    }
  }

  async #wait(): Promise<State> {
    if (this.keeping.unrecorded.has(this.#text)) throw new Aborted(UNRECORDED)
    const leader = this.leaders.get(this.#text)
    if (leader === undefined) {
      this.#lead()
      return { name: 'claim', pauseMs: FIRST_PAUSE_MS }
    }
    const outcome = await bounded(leader, this.call)
    return outcome === undefined ? { name: 'wait' } : { name: 'replay', outcome }
  }

  #lead(): void {
    const { leaders } = this
    let settle: (outcome: Outcome) => void = () => {}
    const mine = new Promise<Outcome>((resolve) => (settle = resolve))
    leaders.set(this.#text, mine)
    this.#settle = (outcome) => {
      if (leaders.get(this.#text) === mine) leaders.delete(this.#text)
      settle(outcome)
    }
  }

  /** Reports the outcome to waiting calls and gives up the lead. */
  #release(outcome: Outcome): void {
    this.#settle?.(outcome)
  }

  async #claim(pauseMs: number): Promise<State> {
    const claimed = await inTime(this.keeping.store.claim(this.#key, this.#fingerprint, LEASE_MS), this.call)
    if (claimed.state === 'claimed') return { name: 'run', claim: claimed.claim }
    assertSame(claimed.fingerprint, this.#fingerprint)
    if (claimed.state === 'done') {
      this.#release(claimed)
      return { name: 'replay', outcome: claimed }
    }
    await bounded(pause(pauseMs * (0.5 + Math.random() / 2)), this.call)
    return { name: 'claim', pauseMs: Math.min(pauseMs * 2, MAX_PAUSE_MS) }
  }

  #run(claim: Claim): Promise<Reply> {
    const { call, handler, keeping } = this
    const held = new HeldKey()
    this.#held = held
    call.key = held
    const run = async (context: RequestContext) => {
      call.context = context
      return this.next()
    }
    const ahead = handler.ahead && (() => handler.ahead?.(call as HandledCall) as Promise<void>)
    return runClaimed(keeping, { claim, key: this.#text, held, call, ahead, run }, (reply) =>
      this.#release(reply && { fingerprint: this.#fingerprint, reply }),
    )
  }

  async #replay(outcome: NonNullable<Outcome>): Promise<Reply> {
    const { call, handler } = this
    assertSame(outcome.fingerprint, this.#fingerprint)
    const reply = messageIn(outcome.reply, call)
    if (call.rowAccess !== undefined) await mayReplay(reply, call, handler)
    sendHeaders(outcome.reply, call)
    return reply
  }
}

const UNRECORDED =
  'a call with this request_id has run, or may have run, and its response could not be stored: read the resource before you try again'

/** Returns the result of the claim unless the call ends first. A claim that arrives late is released. */
const inTime = async (claiming: Promise<ClaimOutcome>, { time }: Call): Promise<ClaimOutcome> => {
  try {
    return await time.bound(claiming)
  } catch (error) {
    const giveBack = (late: ClaimOutcome) => (late.state === 'claimed' ? late.claim.release() : undefined)
    claiming.then(giveBack).catch(() => {})
    throw error
  }
}

/** Checks that the caller may still receive the reply. Its permissions or the row may have changed. */
const mayReplay = (reply: Message, call: RepeatableCall, handler: Handler): Promise<void> => {
  if (handler.checkReplay !== undefined) return handler.checkReplay(reply, call as HandledCall)
  throw new AshlarError(
    'FAILED_PRECONDITION',
    'the call with this request_id was made, but whether its response may still be shown depends on a row-level decision: read the resource instead of repeating the call',
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

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Waits for the work, unless the call ends first. */
const bounded = <T>(work: Promise<T>, { time: { signal } }: Call): Promise<T> =>
  new Promise((resolve, reject) => {
    const late = () => reject(new Aborted('another call with this request_id is still running: retry later'))
    if (signal.aborted) return late()
    signal.addEventListener('abort', late, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', late))
  })
