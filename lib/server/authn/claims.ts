import type { JWTPayload } from 'jose'
import type { Principal } from '../../context.js'
import { Unauthenticated } from '../../errors.js'

/** A claim's name, or a function that reads the value from all claims. */
export type ClaimReader<T> = string | ((claims: JWTPayload) => T)

/** Maps token claims to the fields of a principal. */
export interface ClaimMapping {
  /** Default: `sub`. */
  readonly subject?: ClaimReader<string>
  /** Default: `tenant`. */
  readonly tenant?: ClaimReader<string>
  /** Default: `groups`. */
  readonly groups?: ClaimReader<readonly string[]>
  /** Default: `scopes`, or `scope` (words separated by spaces, RFC 8693) if `scopes` is missing. */
  readonly scopes?: ClaimReader<readonly string[]>
}

/** The maximum number of groups, and of scopes, in one principal. */
export const MAX_GROUPS = 1000

/**
 * Builds the principal from verified claims. A claim of the wrong type counts as absent, so it can never
 * grant anything.
 * @throws Unauthenticated if the subject is missing, or if there are more than {@link MAX_GROUPS} groups or
 *   scopes.
 */
export const toPrincipal = (claims: JWTPayload, mapping: ClaimMapping): Principal => {
  const subject = text(read(claims, mapping.subject ?? 'sub'))
  if (subject === '') throw new Unauthenticated()
  return {
    subject,
    tenant: text(read(claims, mapping.tenant ?? 'tenant')),
    groups: words('groups', read(claims, mapping.groups ?? 'groups'), ','),
    scopes: words('scopes', read(claims, mapping.scopes ?? defaultScopes(claims)), ' '),
  }
}

const read = (claims: JWTPayload, reader: ClaimReader<unknown>): unknown =>
  typeof reader === 'function' ? reader(claims) : claims[reader]

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

const defaultScopes = (claims: JWTPayload): string => (claims['scopes'] === undefined ? 'scope' : 'scopes')

const words = (name: string, value: unknown, separator: string): string[] => {
  const list: readonly unknown[] =
    typeof value === 'string' ? value.split(separator) : Array.isArray(value) ? value : []
  const all = list
    .filter((one) => typeof one === 'string')
    .map((one) => one.trim())
    .filter((one) => one !== '')
  if (all.length <= MAX_GROUPS) return all
  throw new Unauthenticated(
    `the bearer token has ${all.length} ${name}: at most ${MAX_GROUPS} are supported; map the claim to fewer`,
  )
}
