import type { JWTPayload } from 'jose'
import { Unauthenticated } from '../../errors.js'

/**
 * Claims that bind an ID token to the request it responds to (OpenID Connect Core, 2 and 3.3.2.11). Access
 * tokens have none of them.
 */
const OF_ID_TOKENS = ['at_hash', 'c_hash', 'nonce']

/**
 * Refuses what shows itself as an ID token: it is for the application that signed somebody in, and any page
 * of that application may have it. @throws Unauthenticated that says what to send.
 */
export const refuseIdToken = (claims: JWTPayload): void => {
  const isIdToken =
    OF_ID_TOKENS.some((claim) => Object.hasOwn(claims, claim)) ||
    saysId(claims['typ']) ||
    saysId(claims['token_use'])
  if (isIdToken)
    throw new Unauthenticated('the bearer token is an ID token: send the access token that came with it')
}

const saysId = (value: unknown): boolean => typeof value === 'string' && value.toLowerCase() === 'id'
