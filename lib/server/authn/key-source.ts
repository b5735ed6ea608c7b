import type { JSONWebKeySet } from 'jose'
import type { KeySource } from './key-set.js'
import { usableKeys } from './usable-key.js'

const MAX_BYTES = 1024 * 1024

/** Returns a source that reads keys from a fixed address. */
export const keysAt =
  (jwksUri: string, algorithms: readonly string[], fetchIt: typeof fetch): KeySource =>
  (signal) =>
    keySet(jwksUri, algorithms, fetchIt, signal)

/**
 * Returns a source that finds an issuer's keys through its OpenID configuration (OpenID Connect Discovery 1.0
 * section 4).
 */
export const keysOfIssuer =
  (issuer: string, algorithms: readonly string[], fetchIt: typeof fetch): KeySource =>
  async (signal) => {
    const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const { issuer: named, jwks_uri: jwksUri } = await json(url, fetchIt, signal)
    if (named !== issuer) throw new TypeError(`the configuration at ${url} names another issuer`)
    if (typeof jwksUri !== 'string') throw new TypeError(`the configuration at ${url} names no jwks_uri`)
    assertSafe('jwks_uri', jwksUri)
    return keySet(jwksUri, algorithms, fetchIt, signal)
  }

/** Fetches a key set. An empty response is an error, because it must not replace working keys. */
const keySet = async (
  url: string,
  algorithms: readonly string[],
  fetchIt: typeof fetch,
  signal: AbortSignal,
): Promise<JSONWebKeySet> => {
  const keys = usableKeys(await json(url, fetchIt, signal), algorithms)
  if (keys.length === 0) throw new TypeError(`${url} returned no key that can verify a token`)
  return { keys }
}

/**
 * @throws TypeError unless the address is https, or http on this host. On other addresses an attacker on the
 *   network could replace the keys.
 */
export const assertSafe = (name: string, address: string): void => {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol === 'https:') return
  if (url?.protocol === 'http:' && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)) return
  throw new TypeError(`oidc: ${name} "${address}" must be an https address`)
}

const json = async (
  url: string,
  fetchIt: typeof fetch,
  signal: AbortSignal,
): Promise<Record<string, unknown>> => {
  const response = await fetchIt(url, { signal, redirect: 'error', headers: { accept: 'application/json' } })
  if (response.status !== 200) throw new TypeError(`${url} returned ${response.status}`)
  const text = await limited(response, url)
  return JSON.parse(text) as Record<string, unknown>
}

const limited = async ({ body }: Response, url: string): Promise<string> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += (chunk as Uint8Array).byteLength
    if (size > MAX_BYTES) throw new TypeError(`${url} returned more than ${MAX_BYTES} bytes`)
    chunks.push(chunk as Uint8Array)
  }
  return Buffer.concat(chunks).toString('utf8')
}
