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
  /**
   * True if the call may write rows that every tenant reads, that is, rows of a resource with `shared: true`.
   */
  readonly writesShared?: boolean
  /** Aborts when the client disconnects or the deadline passes. */
  readonly signal: AbortSignal
}

/** A method that writes rows which every tenant reads. */
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
   * True if `authorize` may return more than true and false. Then standard methods return NotFound for rows
   * that the caller may not `get`, and a server does not start with a repository that cannot apply a
   * predicate.
   */
  readonly decidesByRow?: boolean
  /** True if the principal may do this. Only `true`, or a decision by row, allows it. */
  authorize(request: AuthorizationRequest): Decision | Promise<Decision>
  /** Why `authorize` returned false, for the developer of a client; only asked in development. */
  explain?(request: AuthorizationRequest): string
  /**
   * Called before the server binds its addresses.
   * @returns the problems that keep the server from starting, one sentence each.
   */
  startUpCheck?(server: AuthorizedServer): readonly string[] | Promise<readonly string[]>
  /** Called when the server has stopped or could not start, with the object that `startUpCheck` was given. */
  close?(server: AuthorizedServer): void | Promise<void>
}

/** The server that an authorizer decides for. */
export interface AuthorizedServer {
  /**
   * The permissions that `authorize` can receive: one for each method, as `ashlar authz catalog` prints it,
   * and those that a delete needs for related resources.
   */
  readonly permissions: readonly { readonly verb: string; readonly resource: string }[]
  /** The methods that write rows which every tenant reads, with the permission that each needs. */
  readonly sharedWrites: readonly SharedWrite[]
  readonly logger: Logger
}
