import type { JWTPayload } from 'jose'
import type { Principal } from '../../context.js'
import { Unauthenticated } from '../../errors.js'

/** A claim's name, or a function that reads the value from all claims. */
export type ClaimReader<T> = string | ((claims: JWTPayload) => T)

/** The claims of a token that hold the parts of a principal. */
export interface ClaimMapping {
  /** Default `sub`. */
  readonly subject?: ClaimReader<string>
  /** Default `tenant`. */
  readonly tenant?: ClaimReader<string>
  /** Default `groups`. */
  readonly groups?: ClaimReader<readonly string[]>
  /**
   * Default `scopes`, or `scope` in the format of RFC 8693 (words separated by spaces) if that is missing.
   */
  readonly scopes?: ClaimReader<readonly string[]>
}

/** The most groups, and the most scopes, of a principal. */
export const MAX_GROUPS = 1000

/**
 * The principal of verified claims. An absent claim leaves its part empty. A claim of a wrong type counts as
 * absent, so it can never grant anything.
 * @throws Unauthenticated without a subject, and with more than {@link MAX_GROUPS} groups or scopes.
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
