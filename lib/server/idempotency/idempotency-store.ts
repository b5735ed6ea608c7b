import type { RequestContext } from '../../context.js'

/** The default time for which a response can be replayed, in milliseconds. */
export const DEFAULT_TTL_MS = 10 * 60_000

/** The identity of a call. Calls with equal keys count as the same call (AIP-155). */
export interface IdempotencyKey {
  readonly tenant: string
  readonly subject: string
  /** gRPC full method name. */
  readonly method: string
  readonly requestId: string
}

/** A stored response, without secrets, credentials and the request id. */
export interface StoredReply {
  /** Full name of the response message. */
  readonly type: string
  /** At most `MAX_KEPT_BYTES` bytes. */
  readonly message: Uint8Array
  readonly headers: readonly (readonly [string, string])[]
  readonly trailers: readonly (readonly [string, string])[]
  /**
   * Set if the call has run, or may have, but its response is not stored. All other fields are then empty.
   */
  readonly omitted?: Omission
}

/**
 * Why a response is not stored: it is larger than `MAX_KEPT_BYTES` (`size`), the store is full (`room`), the
 * store failed (`failure`), its content may contain secrets and cannot be read (`content`), or it is unknown
 * whether the call took effect (`unknown`).
 * @inline
 */
export type Omission = 'size' | 'room' | 'failure' | 'content' | 'unknown'

/**
 * The maximum size in bytes of a response that is stored for replay. A duplicate of a call with a larger
 * response fails with FailedPrecondition.
 */
export const MAX_KEPT_BYTES = 256 * 1024

/**
 * Returns the record stored in place of an omitted response, so that a duplicate does not run the call again.
 */
export const omittedReply = (omitted: Omission): StoredReply => ({
  type: '',
  message: new Uint8Array(),
  headers: [],
  trailers: [],
  omitted,
})

/** A key held by one call for as long as the call renews the lease. */
export interface Claim {
  /** Extends the lease by `leaseMs`. */
  renew(leaseMs: number): Promise<void>
  /**
   * Stores the response for duplicates, in the transaction of `context` if the store has transactions.
   * @returns false if the claim has lapsed and another call holds the key. Then nothing is stored.
   */
  complete(reply: StoredReply, context: RequestContext): Promise<boolean>
  /** Frees the key without a response if this call still holds it. */
  release(): Promise<void>
}

/** The result of a claim: this call holds the key, another call holds it, or it has a response. */
export type ClaimOutcome =
  | { readonly state: 'claimed'; readonly claim: Claim }
  | { readonly state: 'running'; readonly fingerprint: string }
  | { readonly state: 'done'; readonly fingerprint: string; readonly reply: StoredReply }

/**
 * Stores the responses of calls with a request id. If the holder of a claim dies, the claim ends with its
 * lease. No connection or transaction stays open between two calls of these methods.
 */
export interface IdempotencyStore {
  /** Claims the key for `leaseMs` unless it is taken. Only one of several concurrent callers succeeds. */
  claim(key: IdempotencyKey, fingerprint: string, leaseMs: number): Promise<ClaimOutcome>
  /**
   * Runs `effect` so that its writes and the response stored by `Claim.complete` are committed together, if
   * the store supports it.
   */
  transaction?<R>(context: RequestContext, effect: (context: RequestContext) => Promise<R>): Promise<R>
  /** See `Repository.checkWrites`. */
  checkWrites?(): Promise<void>
}

/** Encodes a key as a string from which its parts can be recovered, so that different keys never collide. */
export const keyText = ({ tenant, subject, method, requestId }: IdempotencyKey): string =>
  JSON.stringify([tenant, subject, method, requestId])
