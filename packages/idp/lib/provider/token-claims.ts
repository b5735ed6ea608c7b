import type { ProviderContext } from './provider-context.js'
import type { User } from '../users/user.js'

/** Nobody proved anything: there are no passwords. */
export const AMR = ['none']

/** What ID tokens and userinfo say of a user. */
export const identityClaims = ({ tiles }: ProviderContext, user: User) => ({
  sub: user.sub,
  name: user.name,
  ...(user.email === '' ? {} : { email: user.email }),
  apps: tiles().map(({ clientId }) => clientId),
})

/** What access tokens say of a user, beside the claims of RFC 9068. */
export const accessClaims = (user: User, authTime: number) => ({
  ...(user.tenant === '' ? {} : { tenant: user.tenant }),
  groups: [...user.groups],
  auth_time: authTime,
})
