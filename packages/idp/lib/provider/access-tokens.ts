import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import type { AdapterPayload } from 'oidc-provider'
import type { Keys } from '../state/keys.js'
import type { StateFile } from '../state/state-file.js'

/**
 * The prefix of an access token in requests to the library, which identifies tokens by id and rejects JWTs at
 * introspection and revocation. Such a request gets this form of the token, which only this provider reads.
 */
const RESPELLED = 'jwt~'

export function respelled(token: string): string {
  try {
    decodeProtectedHeader(token)
    return `${RESPELLED}${token}`
  } catch {
    return token
  }
}

/**
 * Returns the entry of an access token that this provider has signed and stores. An unprefixed token is used
 * at userinfo, where the library does not accept tokens with an audience.
 */
export async function accessTokenOf(
  text: string,
  { store }: Pick<StateFile, 'store'>,
  keys: Keys,
  issuer: string,
): Promise<AdapterPayload | undefined> {
  const isRespelled = text.startsWith(RESPELLED)
  const jti = await identifierOf(isRespelled ? text.slice(RESPELLED.length) : text, keys, issuer)
  const entry = jti === undefined ? undefined : store.get('AccessToken', jti)
  if (entry === undefined) return undefined
  return (isRespelled ? entry : { ...entry, aud: undefined }) as AdapterPayload
}

async function identifierOf(token: string, keys: Keys, issuer: string): Promise<string | undefined> {
  try {
    const { payload } = await jwtVerify(token, createLocalJWKSet(publicOf(keys)), {
      issuer,
      typ: 'at+jwt',
      algorithms: ['RS256'],
    })
    return payload.jti
  } catch {
    return undefined
  }
}

const publicOf = (keys: Keys) => ({
  keys: keys.jwks.keys.map(
    ({ kty, n, e, kid, use, alg }) => ({ kty, n, e, kid, use, alg }) as { kty: string },
  ),
})
