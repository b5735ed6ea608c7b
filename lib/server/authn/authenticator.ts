import type { Principal } from '../../context.js'
import type { Metadata } from '../../call.js'
import type { Logger } from '../observability/logger.js'

/** What an authenticator can read besides the token. */
export interface Credentials {
  readonly metadata: Metadata
  readonly peer: string
  /** Aborts when the client disconnects or the deadline passes. */
  readonly signal: AbortSignal
  /** The server's logger. */
  readonly logger?: Logger
}

/** Verifies a bearer token: signature, issuer, audience, expiry. */
export interface Authenticator {
  /** What its tokens are, for clients that read the OpenAPI document, such as `JWT`. Default: not told. */
  readonly bearerFormat?: string
  /** @throws Unauthenticated when the token is not valid. */
  authenticate(token: string, credentials: Credentials): Promise<Principal>
}
