import { createLocalJWKSet, jwtVerify } from 'jose'
import type { AdapterPayload } from 'oidc-provider'
import type { Keys } from '../state/keys.js'
import type { StateFile } from '../state/state-file.js'

/**
 * The library knows an access token by its identifier alone, and refuses one with three parts where it introspects and revokes. So such a
 * request gets another spelling of the token, which only this provider reads back.
 */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/
const RESPELLED = /^[\w-]+~[\w-]+~[\w-]+$/

export const respelled = (token: string): string => (JWT.test(token) ? token.replaceAll('.', '~') : token)

/**
 * The entry of an access token that this provider has signed and remembers. A token in its own spelling is used at userinfo, where the
 * library takes none with an audience.
 */
export async function accessTokenOf(
  text: string,
  { store }: Pick<StateFile, 'store'>,
  keys: Keys,
  issuer: string,
): Promise<AdapterPayload | undefined> {
  const isRespelled = RESPELLED.test(text)
  if (!isRespelled && !JWT.test(text)) return undefined
  const jti = await identifierOf(isRespelled ? text.replaceAll('~', '.') : text, keys, issuer)
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
