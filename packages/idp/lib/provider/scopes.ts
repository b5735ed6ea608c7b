import type { User } from '../users/user.js'

/** Scopes of OpenID Connect, which every user may be asked for. */
export const OPENID_SCOPES: readonly string[] = ['openid', 'offline_access', 'profile', 'email']

/** The requested scopes that a token of the user may have. */
export const grantedScopes = (user: User, wanted: Iterable<string>): readonly string[] =>
  [...new Set(wanted)].filter(
    (scope) => OPENID_SCOPES.includes(scope) || user.scopes === undefined || user.scopes.includes(scope),
  )

/** The one resource of a client: its own service, which is the audience of its access tokens. */
export const resourceOf = (clientId: string): string => `urn:ashlar-idp:${encodeURIComponent(clientId)}`
