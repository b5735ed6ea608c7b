/** An account for signing in. */
export interface User {
  readonly sub: string
  readonly name: string
  /** The email address, or empty. */
  readonly email: string
  /** The tenant, or empty. */
  readonly tenant: string
  readonly groups: readonly string[]
  /** The maximum scopes of the user's tokens. Undefined for all scopes. */
  readonly scopes: readonly string[] | undefined
}
