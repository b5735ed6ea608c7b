import type { RequestContext } from '../../context.js'

/** What makes two calls the same call (AIP-155). */
export interface DeduplicationKey {
  readonly tenant: string
  readonly subject: string
  /** gRPC full method name. */
  readonly method: string
  readonly requestId: string
}

/** An answer as it is kept: without secrets, credentials and request id. */
export interface StoredReply {
  /** Full name of the message. */
  readonly type: string
  /** At most {@link MAX_KEPT_BYTES}. */
  readonly message: Uint8Array
  readonly headers: readonly (readonly [string, string])[]
  readonly trailers: readonly (readonly [string, string])[]
  /** Set where the call has run and its reply is not kept; then all else is empty. */
  readonly omitted?: Omission
}

/**
 * Why an answer is not kept: it is larger than {@link MAX_KEPT_BYTES}, there was no room for it, the store failed, or it has a
 * content that may hold secrets and that cannot be read.
 */
export type Omission = 'size' | 'room' | 'failure' | 'content'

/** The largest message that is kept for a replay. Duplicates of a call with a larger one are FailedPrecondition. */
export const MAX_KEPT_BYTES = 256 * 1024

/** What is kept in place of an answer that is not: a duplicate must not run the call again. */
export const withoutAnswer = (omitted: Omission): StoredReply => ({
  type: '',
  message: new Uint8Array(),
  headers: [],
  trailers: [],
  omitted,
})

/** A key that is ours for as long as its lease is renewed. */
export interface Claim {
  /** Holds on for another `leaseMs`. */
  renew(leaseMs: number): Promise<void>
  /**
   * Keeps the answer for later calls, with `omitted` as well; in the transaction of `context` where the store has
   * transactions.
   * @returns false when the claim had lapsed and somebody else has the key: then nothing is kept.
   */
  complete(reply: StoredReply, context: RequestContext): Promise<boolean>
  /** Frees the key without an answer, if it is still ours. */
  release(): Promise<void>
}

/** What became of a key: ours now, in the hands of another call, or with a reply. */
export type ClaimOutcome =
  | { readonly state: 'claimed'; readonly claim: Claim }
  | { readonly state: 'running'; readonly fingerprint: string }
  | { readonly state: 'answered'; readonly fingerprint: string; readonly reply: StoredReply }

/**
 * Remembers the replies of calls with a request id. A claim whose holder died lapses with its lease. No connection and no
 * transaction is held between two calls of these methods.
 */
export interface DeduplicationStore {
  /** Claims the key for `leaseMs` unless it is taken. Of any number of callers at the same time one gets it. */
  claim(key: DeduplicationKey, fingerprint: string, leaseMs: number): Promise<ClaimOutcome>
  /** Runs `effect` so that what it writes and what `Claim.complete` keeps become durable together, where the store can. */
  transaction?<R>(context: RequestContext, effect: (context: RequestContext) => Promise<R>): Promise<R>
  /** As `Repository.checkWrites`. */
  checkWrites?(): Promise<void>
}

/** One text per key: no part can pass for a piece of another. */
export const keyText = ({ tenant, subject, method, requestId }: DeduplicationKey): string =>
  JSON.stringify([tenant, subject, method, requestId])
