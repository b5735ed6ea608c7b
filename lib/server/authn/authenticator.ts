import type { Principal } from '../../context.js'
import type { Metadata } from '../../call.js'
import type { Logger } from '../observability/logger.js'

/** What an authenticator may look at beside the token. */
export interface Credentials {
  readonly metadata: Metadata
  readonly peer: string
  /** Aborts when the caller went away or the deadline passed. */
  readonly signal: AbortSignal
  /** That of the server which asks. */
  readonly logger?: Logger
}

/** Verifies a bearer: signature, issuer, audience, expiry. */
export interface Authenticator {
  /** @throws Unauthenticated when the token does not hold. */
  authenticate(token: string, credentials: Credentials): Promise<Principal>
}
