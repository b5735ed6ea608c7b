import type { Principal } from '../../context.js'
import type { Metadata } from '../../call.js'
import type { Logger } from '../observability/logger.js'

/** The parts of a request that an authenticator can read besides the token. */
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
  /**
   * The format of its tokens, such as `JWT`, for clients that read the OpenAPI document. Default: omitted.
   */
  readonly bearerFormat?: string
  /** @throws Unauthenticated when the token is not valid. */
  authenticate(token: string, credentials: Credentials): Promise<Principal>
}
