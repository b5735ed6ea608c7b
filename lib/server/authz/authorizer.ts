import type { Principal } from '../../context.js'

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
  authorize(request: AuthorizationRequest): boolean | Promise<boolean>
}

/** Allows `verbs` on `resource` to `subjects` of `tenant`. */
export interface Grant {
  /** `*` is any tenant. */
  readonly tenant: string
  /** `*`, a subject, or `group:<name>`. */
  readonly subjects: readonly string[]
  /** `*` is every verb. */
  readonly verbs: readonly string[]
  /** `*`, a type, or a filled template such as `zone:7`. */
  readonly resource: string
}

/**
 * The development authorizer: allows what a grant allows. Without grants it denies everything, so it is the safe
 * default. With grants, `serve` accepts it in development only.
 */
export class DevAuthorizer implements Authorizer {
  constructor(readonly grants: readonly Grant[] = []) {}

  authorize(request: AuthorizationRequest): boolean {
    const { principal, verb, type } = request
    const groups = new Set(principal.groups)
    for (const { tenant, subjects, verbs, resource } of this.grants) {
      const isForCaller =
        (tenant === '*' || tenant === principal.tenant) && includes(subjects, principal.subject, groups)
      const isForVerb = verbs.includes(verb) || verbs.includes('*')
      const isForResource = resource === '*' || resource === type || resource === request.resource
      if (isForCaller && isForVerb && isForResource) return true
    }
    return false
  }
}

/**
 * An authorizer with grants, for development and tests: it denies what no grant allows.
 * @example
 * ```ts
 * import { devAuthorizer } from 'ashlar'
 *
 * const authorizer = devAuthorizer([
 *   { tenant: '*', subjects: ['group:staff'], verbs: ['*'], resource: 'widget' },
 *   { tenant: 'acme', subjects: ['auditor'], verbs: ['get', 'list'], resource: '*' },
 * ])
 * ```
 */
export const devAuthorizer = (grants: readonly Grant[] = []): DevAuthorizer => new DevAuthorizer(grants)

const GROUP = 'group:'

/** Whether one of the subjects is the principal. One that calls itself `group:admins` is not of that group. */
const includes = (granted: readonly string[], subject: string, groups: ReadonlySet<string>): boolean => {
  for (const one of granted) {
    if (one === '*') return true
    if (one.startsWith(GROUP) ? groups.has(one.slice(GROUP.length)) : one !== '' && one === subject)
      return true
  }
  return false
}
