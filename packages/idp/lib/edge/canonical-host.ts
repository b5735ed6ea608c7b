/** A name in the DNS has at most as many characters. */
const LONGEST = 253

/**
 * The one form of a host that routes, names in TLS and `Host` headers are compared by: lower case, in
 * Punycode, without a port and dots at its end. Undefined for what is not a host.
 */
export function canonicalHost(text: string): string | undefined {
  // The rest of an address, and what the parser of addresses would leave out of a host.
  if (/[\s\p{Cc}/\\?#@]/u.test(text) || !URL.canParse(`http://${text}/`)) return undefined
  const host = new URL(`http://${text}/`).hostname.replace(/\.+$/, '')
  return host === '' || host.length > LONGEST ? undefined : host
}
