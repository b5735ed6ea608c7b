import type { Principal } from '../../context.js'
import type { Metadata } from '../../call.js'
import type { Logger } from '../observability/logger.js'

/** The parts of a request that an authenticator can use in addition to the token. */
export interface Credentials {
  readonly metadata: Metadata
  readonly peer: string
  /** Aborts when the client disconnects or the deadline passes. */
  readonly signal: AbortSignal
  readonly logger?: Logger
}

/** Verifies a bearer token: signature, issuer, audience, expiry. */
export interface Authenticator {
  /** The token format, such as `JWT`, that the OpenAPI document states. Omitted by default. */
  readonly bearerFormat?: string
  /** @throws Unauthenticated if the token is invalid. */
  authenticate(token: string, credentials: Credentials): Promise<Principal>
}
