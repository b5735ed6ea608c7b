import { Unauthenticated } from '../../errors.js'

/**
 * The token of an `authorization` value. Another scheme counts as no bearer.
 * @throws Unauthenticated for a bearer that is not a token (RFC 6750 section 2.1).
 */
export const bearerOf = (authorization: string | undefined): string | undefined => {
  const match = /^bearer(?:$| +(.*)$)/i.exec(authorization?.trim() ?? '')
  if (match === null) return undefined
  const token = match[1] ?? ''
  if (!/^[A-Za-z0-9._~+/-]+=*$/.test(token)) throw new Unauthenticated()
  return token
}
