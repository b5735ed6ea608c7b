import type { User } from '../users/user.js'

/** The scopes of OpenID Connect, which every user has. */
export const OPENID_SCOPES: readonly string[] = ['openid', 'offline_access', 'profile', 'email']

/** Returns the requested scopes that the user may have. */
export const grantedScopes = (user: User, wanted: Iterable<string>): readonly string[] =>
  [...new Set(wanted)].filter(
    (scope) => OPENID_SCOPES.includes(scope) || user.scopes === undefined || user.scopes.includes(scope),
  )

/** Returns the resource of a client, its own service, which is the audience of its access tokens. */
export const resourceOf = (clientId: string): string => `urn:ashlar-idp:${encodeURIComponent(clientId)}`
