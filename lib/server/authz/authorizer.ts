import type { Principal } from '../../context.js'
import type { Logger } from '../observability/logger.js'
import type { Decision } from './decision.js'

/** A request for a decision. */
export interface AuthorizationRequest {
  readonly principal: Principal
  /** gRPC full method name. */
  readonly method: string
  readonly verb: string
  /** The rule's resource, with its template filled from the request. */
  readonly resource: string
  /** The resource's type: the text before the first colon. */
  readonly type: string
  /** Aborts when the client disconnects or the deadline passes. */
  readonly signal: AbortSignal
}

/** Decides whether a principal may do something. What is not allowed is denied. */
export interface Authorizer {
  /**
   * True where `authorize` may return more than true and false. Then what a caller may not `get` is NotFound by every
   * standard method, and a server does not start with a repository that cannot apply a predicate.
   */
  readonly decidesByRow?: boolean
  authorize(request: AuthorizationRequest): Decision | Promise<Decision>
  /** Why `authorize` returned false, for the developer of a client; only asked in development. */
  explain?(request: AuthorizationRequest): string
  /**
   * Asked before the server binds its addresses.
   * @returns what keeps it from starting, a sentence each.
   */
  startUpCheck?(server: AuthorizedServer): readonly string[] | Promise<readonly string[]>
  /** The server has stopped. */
  close?(): void | Promise<void>
}

/** The server that an authorizer decides for. */
export interface AuthorizedServer {
  /** What it takes to call each method, as `ashlar authz catalog` prints it. */
  readonly permissions: readonly { readonly verb: string; readonly resource: string }[]
  readonly logger: Logger
}
