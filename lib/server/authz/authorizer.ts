import type { Principal } from '../../context.js'
import type { Logger } from '../observability/logger.js'
import type { Decision } from './decision.js'

/** The input of an authorization decision. */
export interface AuthorizationRequest {
  readonly principal: Principal
  /** gRPC full method name. */
  readonly method: string
  readonly verb: string
  /** The rule's resource. A template is filled from the request. */
  readonly resource: string
  /** The resource type: the part of `resource` before the first colon. */
  readonly type: string
  /** True if the call may write rows of a resource with `shared: true`, which every tenant reads. */
  readonly writesShared?: boolean
  /** Aborts when the client disconnects or the deadline passes. */
  readonly signal: AbortSignal
}

/** A method that writes rows that every tenant can read. @inline */
export interface SharedWrite {
  /** gRPC full method name. */
  readonly method: string
  readonly verb: string
  /** The rule's resource. */
  readonly resource: string
}

/** Decides whether a principal may do something. Everything that it does not allow is denied. */
export interface Authorizer {
  /**
   * True if `authorize` may return a row-level decision. Then standard methods return NotFound for rows that
   * the caller may not `get`, and the server does not start with a repository that cannot filter rows.
   */
  readonly decidesByRow?: boolean
  /**
   * Returns true to allow the call, or a row-level decision to allow it for some rows. Any other value denies
   * it.
   */
  authorize(request: AuthorizationRequest): Decision | Promise<Decision>
  /** Explains to the developer of a client why `authorize` returned false. Called in development only. */
  explain?(request: AuthorizationRequest): string
  /**
   * Called before the server binds its addresses.
   * @returns the problems that prevent startup, one sentence each.
   */
  startUpCheck?(server: AuthorizedServer): readonly string[] | Promise<readonly string[]>
  /** Called after the server has stopped or failed to start, with the object that `startUpCheck` received. */
  close?(server: AuthorizedServer): void | Promise<void>
}

/** The server for which an authorizer decides. */
export interface AuthorizedServer {
  /**
   * The permissions that `authorize` can receive: one for each method, as printed by `ashlar authz catalog`,
   * plus the permissions that a delete requires on related resources.
   */
  readonly permissions: readonly { readonly verb: string; readonly resource: string }[]
  /** The methods that write rows that every tenant can read, with the permission that each requires. */
  readonly sharedWrites: readonly SharedWrite[]
  readonly logger: Logger
}
