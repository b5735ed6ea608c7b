import type { AuthorizationRequest, Authorizer } from './authorizer.js'
import { type Grant, isFor, permits, refusalOf } from './grant.js'

/**
 * The development authorizer: allows what a grant allows. Without grants it denies everything, which makes it
 * the safe default; with grants `serve` accepts it in development only.
 */
export class DevAuthorizer implements Authorizer {
  constructor(readonly grants: readonly Grant[] = []) {}

  /** True if a grant allows it. */
  authorize(request: AuthorizationRequest): boolean {
    const groups = new Set(request.principal.groups)
    for (const grant of this.grants) {
      if (isFor(grant, request.principal, groups) && permits(grant, request)) return true
    }
    return false
  }

  explain(request: AuthorizationRequest): string {
    return refusalOf(this.grants, request)
  }
}

/**
 * An authorizer of grants, for development and tests: it denies what no grant allows.
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
