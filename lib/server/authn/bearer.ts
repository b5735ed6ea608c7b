import { Unauthenticated } from '../../errors.js'

/**
 * Returns the token of an `authorization` header, or undefined for another scheme.
 * @throws Unauthenticated if the bearer value is not a token (RFC 6750 section 2.1).
 */
export const bearerOf = (authorization: string | undefined): string | undefined => {
  const match = /^bearer(?:$| +(.*)$)/i.exec(authorization?.trim() ?? '')
  if (match === null) return undefined
  const token = match[1] ?? ''
  if (!/^[A-Za-z0-9._~+/-]+=*$/.test(token)) throw new Unauthenticated()
  return token
}
