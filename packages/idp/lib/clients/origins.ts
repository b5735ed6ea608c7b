import type { Client } from './client.js'

/**
 * Matches the parts of an http address: scheme and host, optional port with its colon, and the rest as
 * written.
 */
const PARTS = /^(https?:\/\/(\[[0-9a-f:.]+\]|[a-z0-9._-]+))(:[1-9]\d{0,4})?((?:[/?].*)?)$/is

/**
 * Returns true if the client has registered exactly this address. On a loopback host any port is accepted
 * (RFC 8252 section 7.3), because a development server or local HTTPS proxy may use a different one.
 */
export const isRegistered = ({ redirectUris }: Client, uri: string): boolean =>
  redirectUris.some((registered) => registered === uri || differsInPort(registered, uri))

/** Returns true if the address is on an origin of the client. On a loopback host any port is accepted. */
export function isOwnOrigin({ redirectUris }: Client, uri: string): boolean {
  if (/[\p{Cc}\\]/u.test(uri) || !URL.canParse(uri)) return false
  const { origin, username, password, protocol } = new URL(uri)
  if (!isHttp(protocol) || `${username}${password}` !== '') return false
  return redirectUris.some((registered) => {
    const own = new URL(registered).origin
    return isHttp(own) && (own === origin || differsInPort(own, origin))
  })
}

/**
 * Returns the origins of redirect addresses for headers of pages. For schemes other than http and https,
 * returns the scheme.
 */
export const originsOf = (uris: readonly string[]): readonly string[] => [
  ...new Set(
    uris
      .filter((uri) => URL.canParse(uri))
      .map((uri) => {
        const { origin, protocol } = new URL(uri)
        return isHttp(protocol) ? origin : protocol
      }),
  ),
]

/** Returns true for loopback addresses and for names that every browser resolves to them. */
export const isLoopback = (host: string): boolean =>
  /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(host)

function differsInPort(registered: string, uri: string): boolean {
  const [, begin, host = '', , rest] = PARTS.exec(registered) ?? []
  const [, otherBegin, , port = ':1', otherRest] = PARTS.exec(uri) ?? []
  if (begin === undefined || begin !== otherBegin || rest !== otherRest || !isLoopback(host)) return false
  const number = Number(port.slice(1))
  return number >= 1 && number <= 65_535
}

const isHttp = (protocol: string): boolean => /^https?:/.test(protocol)
