import type { Principal } from '../../context.js'
import type { AuthorizationRequest } from './authorizer.js'
import { type Grant, GROUP, permits } from './grant.js'

/** Allows `verbs` on `resource` to everyone bound to the role. See {@link Grant}. */
export type RolePermission = Pick<Grant, 'verbs' | 'resource'>

/**
 * Gives `roles` to `subjects` of `tenant`. Together with each permission of a role it forms a {@link Grant}.
 */
export interface RoleBinding extends Pick<Grant, 'tenant' | 'subjects'> {
  /** Names of roles in the policy. */
  readonly roles: readonly string[]
}

/** Roles and their bindings. Everything that no role allows is denied. */
export interface RolePolicy {
  /** The permissions of each role, by role name. */
  readonly roles: Readonly<Record<string, readonly RolePermission[]>>
  readonly bindings: readonly RoleBinding[]
}

/**
 * A checked policy, indexed by tenant and subject. The time for a decision depends only on the principal's
 * own bindings.
 */
export class PolicyIndex {
  readonly #held = new Map<string, Map<string, (readonly RolePermission[])[]>>()

  /** If `policy` is omitted, everything is denied. */
  constructor(policy: RolePolicy = { roles: {}, bindings: [] }) {
    const roles = new Map(Object.entries(policy.roles))
    for (const { tenant, subjects, roles: names } of policy.bindings) {
      const given = names.flatMap((name) => [roles.get(name) ?? []])
      const ofTenant = this.#held.get(tenant) ?? new Map<string, (readonly RolePermission[])[]>()
      this.#held.set(tenant, ofTenant)
      for (const subject of subjects) {
        const ofSubject = ofTenant.get(subject) ?? []
        ofTenant.set(subject, ofSubject)
        for (const permissions of given) ofSubject.push(permissions)
      }
    }
  }

  allows(request: AuthorizationRequest): boolean {
    for (const permissions of this.#of(request.principal))
      for (const permission of permissions) if (covers(permission, request)) return true
    return false
  }

  /** Returns every permission of the principal that can apply to the request. */
  permissionsFor(request: AuthorizationRequest): readonly RolePermission[] {
    const all = [...this.#of(request.principal)].flat()
    return request.writesShared === true ? all.filter(({ resource }) => resource !== ANY) : all
  }

  *#of({ tenant, subject, groups }: Principal): Iterable<readonly RolePermission[]> {
    for (const name of new Set([tenant, ANY])) {
      const ofTenant = this.#held.get(name)
      if (ofTenant === undefined) continue
      for (const one of namesOf(subject, groups)) yield* ofTenant.get(one) ?? []
    }
  }
}

/**
 * Returns true if the permission allows the request. `*` does not cover writes to rows that every tenant
 * reads; a permission must name that resource.
 */
const covers = (permission: RolePermission, request: AuthorizationRequest): boolean =>
  permits(permission, request) && !(request.writesShared === true && permission.resource === ANY)

const ANY = '*'

/**
 * Returns the subjects in bindings that match a principal. A subject named `group:admins` does not match that
 * group.
 */
const namesOf = (subject: string, groups: readonly string[]): ReadonlySet<string> =>
  new Set([
    ANY,
    ...(subject === '' || subject.startsWith(GROUP) ? [] : [subject]),
    ...groups.map((group) => `${GROUP}${group}`),
  ])
