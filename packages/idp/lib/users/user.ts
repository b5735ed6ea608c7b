/** An account to sign in with. */
export interface User {
  readonly sub: string
  readonly name: string
  /** Empty for none. */
  readonly email: string
  /** Empty for none. */
  readonly tenant: string
  readonly groups: readonly string[]
  /** The most that a token of the user may have. Undefined for no bound. */
  readonly scopes: readonly string[] | undefined
}
