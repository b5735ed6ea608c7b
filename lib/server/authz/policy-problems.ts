import { isObject } from '../../resource/free-form/shape.js'
import { didYouMean } from '../../text/nearest-names.js'
import type { AuthorizedServer } from './authorizer.js'
import { GROUP } from './grant.js'
import { typeOf } from './resource-template.js'
import type { RolePermission, RolePolicy } from './role-policy.js'

/** A position in a policy: `['roles', 'editor', 0, 'verbs']`. */
export type PolicyPath = readonly (string | number)[]

/** A problem at one position, with advice. */
export interface PolicyProblem {
  readonly path: PolicyPath
  readonly text: string
}

/** Formats a path as code writes it: `roles.editor[0].verbs`. */
export const textOfPath = (path: PolicyPath): string =>
  path
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`))
    .join('')

/** Returns every problem of a value that must be a policy. */
export const policyProblems = (value: unknown): readonly PolicyProblem[] => {
  const check = new Check()
  check.policy(value)
  return check.problems
}

/** The maximum number of problems reported for one policy. */
const MAX_REPORTED = 20

/** Returns at most 20 problems, and the number of the others. */
export const firstProblems = (problems: readonly string[]): readonly string[] =>
  problems.length <= MAX_REPORTED
    ? problems
    : [...problems.slice(0, MAX_REPORTED), `and ${problems.length - MAX_REPORTED} more`]

class Check {
  readonly problems: PolicyProblem[] = []

  policy(value: unknown): void {
    const policy = this.#fields(value, [], ['roles', 'bindings'])
    if (policy === undefined) return
    const roles = isObject(policy['roles']) ? policy['roles'] : undefined
    if (roles === undefined)
      this.#say(['roles'], 'is not an object: list the permissions of each role under its name')
    for (const [name, permissions] of Object.entries(roles ?? {})) {
      const path = ['roles', name]
      if (!isName(name)) this.#say(path, `is not a valid role name: ${NAME}`)
      for (const [index, one] of this.#list(permissions, path).entries()) {
        const permission = this.#fields(one, [...path, index], ['verbs', 'resource'])
        if (permission === undefined) continue
        this.#names(permission['verbs'], [...path, index, 'verbs'])
        this.#name(permission['resource'], [...path, index, 'resource'])
      }
    }
    const bindings = policy['bindings']
    if (!Array.isArray(bindings)) return this.#say(['bindings'], 'is not a list: list the bindings of roles')
    for (const [index, one] of bindings.entries()) this.#binding(one, ['bindings', index], roles)
  }

  #binding(value: unknown, path: PolicyPath, roles: object | undefined): void {
    const binding = this.#fields(value, path, ['tenant', 'subjects', 'roles'])
    if (binding === undefined) return
    this.#name(binding['tenant'], [...path, 'tenant'])
    this.#names(binding['subjects'], [...path, 'subjects'])
    const known = Object.keys(roles ?? {})
    for (const [index, name] of this.#names(binding['roles'], [...path, 'roles']))
      if (roles !== undefined && !Object.hasOwn(roles, name))
        this.#say([...path, 'roles', index], `"${name}" is not in \`roles\`${didYouMean(name, known)}`)
  }

  /** Returns the value if it is an object with exactly these fields, and otherwise records a problem. */
  #fields(value: unknown, path: PolicyPath, names: readonly string[]): Record<string, unknown> | undefined {
    if (!isObject(value)) {
      this.#say(path, `is not an object: write one with ${names.join(', ')}`)
      return undefined
    }
    for (const name of Object.keys(value))
      if (!names.includes(name)) this.#say([...path, name], `is not a field${didYouMean(name, names)}`)
    const missing = names.filter((name) => value[name] === undefined)
    if (missing.length === 0) return value
    this.#say(path, `has no ${missing.join(' and no ')}: add it`)
    return undefined
  }

  #list(value: unknown, path: PolicyPath): readonly unknown[] {
    if (Array.isArray(value) && value.length > 0) return value
    this.#say(path, Array.isArray(value) ? 'is empty: name at least one' : 'is not a list: write one, in [ ]')
    return []
  }

  /** Returns the valid names in the list with their positions, and records the others as problems. */
  #names(value: unknown, path: PolicyPath): readonly (readonly [number, string])[] {
    return [...this.#list(value, path).entries()].flatMap(([index, one]) =>
      this.#name(one, [...path, index]) ? [[index, one as string] as const] : [],
    )
  }

  #name(value: unknown, path: PolicyPath): boolean {
    if (typeof value !== 'string') this.#say(path, 'is not a string: write it in quotes')
    else if (!isName(value)) this.#say(path, `${JSON.stringify(value.slice(0, 100))}: ${NAME}`)
    else if (value !== '*' && value.includes('*'))
      this.#say(path, `"${value}" is not a pattern: write * alone for all, or the complete name`)
    else return true
    return false
  }

  #say(path: PolicyPath, text: string): void {
    this.problems.push({ path, text })
  }
}

const NAME = 'write a name that is not empty and has no spaces around it'

const isName = (text: string): boolean => text !== '' && text.trim() === text && text !== GROUP

/** Returns the permissions that no method requires, such as a misspelt verb or resource type. */
export const unknownPermissions = (
  { roles }: RolePolicy,
  asked: AuthorizedServer['permissions'],
): readonly PolicyProblem[] =>
  Object.entries(roles).flatMap(([role, permissions]) =>
    permissions.flatMap((permission, index) =>
      unknownIn(permission, asked).map(({ path, text }) => ({
        path: ['roles', role, index, ...path],
        text,
      })),
    ),
  )

/** Returns, for each method that writes rows of all tenants, the roles that may call it. */
export const sharedWriters = (
  { roles }: RolePolicy,
  writes: AuthorizedServer['sharedWrites'],
): readonly { readonly method: string; readonly roles: readonly string[] }[] =>
  writes.map(({ method, verb, resource }) => ({
    method,
    roles: Object.entries(roles)
      .filter(([, permissions]) =>
        permissions.some(
          (one) =>
            one.resource !== '*' &&
            canBe(resource, one.resource) &&
            (one.verbs.includes(verb) || one.verbs.includes('*')),
        ),
      )
      .map(([role]) => role),
  }))

const unknownIn = (
  { verbs, resource }: RolePermission,
  asked: AuthorizedServer['permissions'],
): readonly PolicyProblem[] => {
  const reached = asked.filter((one) => resource === '*' || canBe(one.resource, resource))
  if (reached.length === 0 && resource !== '*')
    return [{ path: ['resource'], text: unknownResource(resource, asked) }]
  const known = new Set(reached.map(({ verb }) => verb))
  return verbs.flatMap((verb, index) =>
    verb === '*' || known.has(verb)
      ? []
      : [
          {
            path: ['verbs', index],
            text: `no method and no relation requires "${verb}" on "${resource}"${didYouMean(verb, [...known].sort())}`,
          },
        ],
  )
}

/** Returns true if a grant on `resource` may allow a call whose rule has the template. */
const canBe = (template: string, resource: string): boolean => {
  if (typeOf(template) === resource) return true
  // Braces are valid only in a template, and an unfilled template never equals a call's resource. Values
  // contain no colon.
  const [parts, given] = [template.split(':'), resource.split(':')]
  const isFilled = template.includes('{') === (template !== resource)
  return isFilled && parts.length === given.length && parts.every((part, at) => fits(part, given[at] ?? ''))
}

const fits = (part: string, given: string): boolean => {
  const [first = '', last] = part.split(FIELD)
  if (last === undefined) return part === given
  return given.length >= first.length + last.length && given.startsWith(first) && given.endsWith(last)
}

const unknownResource = (resource: string, asked: AuthorizedServer['permissions']): string => {
  const type = typeOf(resource)
  const templates = asked.map((one) => one.resource).filter((one) => typeOf(one) === type)
  const known = [...new Set(asked.map((one) => typeOf(one.resource)))].sort()
  return templates.length > 0
    ? `no call uses the resource "${resource}": write "${type}" for all of them${templates.some((one) => one.includes('{')) ? ', or one in full, without { }' : ''}`
    : `"${type}" is not a resource type of this server${didYouMean(type, known)}`
}

const FIELD = /\{[^{}]*\}/
