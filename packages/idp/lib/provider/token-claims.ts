import type { ProviderContext } from './provider-context.js'
import type { User } from '../users/user.js'

/** No authentication took place: users have no passwords. */
export const AMR = ['none']

/** The claims about a user in ID tokens and userinfo. */
export const identityClaims = ({ tiles }: ProviderContext, user: User) => ({
  sub: user.sub,
  name: user.name,
  ...(user.email === '' ? {} : { email: user.email }),
  apps: tiles().map(({ clientId }) => clientId),
})

/** The claims about a user in access tokens, besides RFC 9068's. */
export const accessClaims = (user: User, authTime: number) => ({
  ...(user.tenant === '' ? {} : { tenant: user.tenant }),
  groups: [...user.groups],
  auth_time: authTime,
})
