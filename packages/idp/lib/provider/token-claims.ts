import type { ProviderContext } from './provider-context.js'
import type { User } from '../users/user.js'

/** Users have no passwords, so no authentication took place. */
export const AMR = ['none']

/** Returns a user's claims for ID tokens and userinfo. */
export const identityClaims = ({ tiles }: ProviderContext, user: User) => ({
  sub: user.sub,
  name: user.name,
  ...(user.email === '' ? {} : { email: user.email }),
  apps: tiles().map(({ clientId }) => clientId),
})

/** Returns a user's claims for access tokens, in addition to those of RFC 9068. */
export const accessClaims = (user: User, authTime: number) => ({
  ...(user.tenant === '' ? {} : { tenant: user.tenant }),
  groups: [...user.groups],
  auth_time: authTime,
})
