import type { RequestContext } from '../../context.js'

/** The time a response is replayed if a store is given no other time. */
export const DEFAULT_TTL_MS = 10 * 60_000

/** Two calls with an equal key are the same call (AIP-155). */
export interface IdempotencyKey {
  readonly tenant: string
  readonly subject: string
  /** gRPC full method name. */
  readonly method: string
  readonly requestId: string
}

/** A stored response, without secrets, credentials and request id. */
export interface StoredReply {
  /** Full name of the message. */
  readonly type: string
  /** At most `MAX_KEPT_BYTES`. */
  readonly message: Uint8Array
  readonly headers: readonly (readonly [string, string])[]
  readonly trailers: readonly (readonly [string, string])[]
  /**
   * Set when the call has run, or may have, and its response is not stored; then everything else is empty.
   */
  readonly omitted?: Omission
}

/**
 * The reason why a response is not stored: it is larger than `MAX_KEPT_BYTES` (`size`), the store had no
 * room, the store failed, its content may hold secrets and cannot be read, or it is not known whether the
 * call took effect (`unknown`).
 */
export type Omission = 'size' | 'room' | 'failure' | 'content' | 'unknown'

/**
 * The largest response that is stored for a replay. Duplicates of a call with a larger one are
 * FailedPrecondition.
 */
export const MAX_KEPT_BYTES = 256 * 1024

/** Stored in place of an omitted response: a duplicate must not run the call again. */
export const omittedReply = (omitted: Omission): StoredReply => ({
  type: '',
  message: new Uint8Array(),
  headers: [],
  trailers: [],
  omitted,
})

/** A key that this call holds as long as it renews the lease. */
export interface Claim {
  /** Holds the key for another `leaseMs`. */
  renew(leaseMs: number): Promise<void>
  /**
   * Stores the response for duplicates, also one with `omitted`; in the transaction of `context` if the store
   * has transactions.
   * @returns false when the claim had lapsed and another call has the key: then nothing is stored.
   */
  complete(reply: StoredReply, context: RequestContext): Promise<boolean>
  /** Frees the key without a response, if this call still holds it. */
  release(): Promise<void>
}

/** The result of a claim: the key is now held by this call, held by another call, or has a response. */
export type ClaimOutcome =
  | { readonly state: 'claimed'; readonly claim: Claim }
  | { readonly state: 'running'; readonly fingerprint: string }
  | { readonly state: 'done'; readonly fingerprint: string; readonly reply: StoredReply }

/**
 * Stores the responses of calls with a request id. When the holder of a claim dies, the claim lapses with its
 * lease. No connection or transaction is held between two calls of these methods.
 */
export interface IdempotencyStore {
  /** Claims the key for `leaseMs` unless it is taken. Of concurrent callers, one gets it. */
  claim(key: IdempotencyKey, fingerprint: string, leaseMs: number): Promise<ClaimOutcome>
  /**
   * Runs `effect` so that its writes and the response of `Claim.complete` become durable together, if the
   * store supports it.
   */
  transaction?<R>(context: RequestContext, effect: (context: RequestContext) => Promise<R>): Promise<R>
  /** Like `Repository.checkWrites`. */
  checkWrites?(): Promise<void>
}

/** One text per key: no part can be mistaken for a piece of another. */
export const keyText = ({ tenant, subject, method, requestId }: IdempotencyKey): string =>
  JSON.stringify([tenant, subject, method, requestId])
