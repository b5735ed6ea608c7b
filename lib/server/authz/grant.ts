import type { Principal } from '../../context.js'
import type { AuthorizationRequest } from './authorizer.js'

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

/** True if the permission allows the request to a principal that has it. */
export const permits = ({ resource, verbs }: Permitted, request: AuthorizationRequest): boolean =>
  (resource === '*' || resource === request.type || resource === request.resource) &&
  (verbs.includes(request.verb) || verbs.includes('*'))

type Permitted = Pick<Grant, 'verbs' | 'resource'>

/** Why no grant allows it, and which verbs are allowed instead. */
export const refusalOf = (grants: readonly Grant[], request: AuthorizationRequest): string => {
  const groups = new Set(request.principal.groups)
  return refusal(
    'grant',
    grants.filter((grant) => isFor(grant, request.principal, groups)),
    request,
  )
}

/** The reason why none of a principal's permissions allows the request. */
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

/** The prefix of a group's name in a list of subjects. */
export const GROUP = 'group:'

/** True if the grant is for the principal. */
export const isFor = (
  { tenant, subjects }: Grant,
  principal: Principal,
  groups: ReadonlySet<string>,
): boolean => (tenant === '*' || tenant === principal.tenant) && includes(subjects, principal.subject, groups)

/**
 * True if one of the subjects is the principal. One that calls itself `group:admins` is not of that group.
 */
const includes = (granted: readonly string[], subject: string, groups: ReadonlySet<string>): boolean => {
  for (const one of granted) {
    if (one === '*') return true
    if (one.startsWith(GROUP) ? groups.has(one.slice(GROUP.length)) : one !== '' && one === subject)
      return true
  }
  return false
}
