import type { Principal } from '../../context.js'
import type { AuthorizationRequest } from './authorizer.js'

/** Allows `verbs` on `resource` to `subjects` of `tenant`. */
export interface Grant {
  /** A tenant, or `*` for every tenant. */
  readonly tenant: string
  /** `*`, a subject, or `group:<name>`. */
  readonly subjects: readonly string[]
  /** Verbs, or `*` for every verb. */
  readonly verbs: readonly string[]
  /** `*`, a resource type, or a filled template such as `zone:7`. */
  readonly resource: string
}

/** Returns true if the permission covers the request's resource and verb. */
export const permits = ({ resource, verbs }: Permitted, request: AuthorizationRequest): boolean =>
  (resource === '*' || resource === request.type || resource === request.resource) &&
  (verbs.includes(request.verb) || verbs.includes('*'))

type Permitted = Pick<Grant, 'verbs' | 'resource'>

/** Explains why no grant allows the request and lists the verbs that are allowed. */
export const refusalOf = (grants: readonly Grant[], request: AuthorizationRequest): string => {
  const groups = new Set(request.principal.groups)
  return refusal(
    'grant',
    grants.filter((grant) => isFor(grant, request.principal, groups)),
    request,
  )
}

/** Explains why none of a principal's permissions allows the request. */
export const refusal = (
  of: 'grant' | 'role',
  permissions: readonly Permitted[],
  request: AuthorizationRequest,
): string => {
  const { verb, resource, principal } = request
  const verbs = new Set(
    permissions.filter((one) => permits({ ...one, verbs: ['*'] }, request)).flatMap((one) => one.verbs),
  )
  const instead =
    verbs.size === 0 ? 'nothing on it is allowed' : `it is allowed ${[...verbs].sort().join(', ')}`
  return `no ${of} allows ${verb} on ${resource} to subject "${principal.subject}" of tenant "${principal.tenant}" in groups [${principal.groups.join(', ')}]: ${instead}`
}

/** The prefix of group names in a list of subjects. */
export const GROUP = 'group:'

/** Returns true if the grant applies to the principal. */
export const isFor = (
  { tenant, subjects }: Grant,
  principal: Principal,
  groups: ReadonlySet<string>,
): boolean => (tenant === '*' || tenant === principal.tenant) && includes(subjects, principal.subject, groups)

/**
 * Returns true if the list contains the principal's subject or one of its groups. A subject named
 * `group:admins` does not count as a member of that group.
 */
const includes = (granted: readonly string[], subject: string, groups: ReadonlySet<string>): boolean => {
  for (const one of granted) {
    if (one === '*') return true
    if (one.startsWith(GROUP) ? groups.has(one.slice(GROUP.length)) : one !== '' && one === subject)
      return true
  }
  return false
}
