import type { AuthorizationRequest, Authorizer } from './authorizer.js'
import { type Grant, isFor, permits, refusalOf } from './grant.js'

/**
 * An authorizer that allows what its grants allow. Without grants it denies everything, which makes it a safe
 * default. With grants, `serve` accepts it in development only.
 */
export class DevAuthorizer implements Authorizer {
  constructor(readonly grants: readonly Grant[] = []) {}

  /** Returns true if one of the grants allows the request. */
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
 * Returns an authorizer for development and tests that denies everything its grants do not allow.
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
