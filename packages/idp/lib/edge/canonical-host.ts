/** The maximum length of a DNS name. */
const LONGEST = 253

/**
 * Returns the canonical form of a host, by which routes, TLS names and `Host` headers are compared: lower
 * case, Punycode, without a port and trailing dots. Returns undefined if the string is not a host.
 */
export function canonicalHost(text: string): string | undefined {
  // Reject other parts of an address, and characters that the URL parser would remove.
  if (/[\s\p{Cc}/\\?#@]/u.test(text) || !URL.canParse(`http://${text}/`)) return undefined
  const { hostname } = new URL(`http://${text}/`)
  const host = hostname.replace(/\.+$/, '')
  // Without its dots, it may be an IPv4 address in another form.
  if (host !== hostname) return canonicalHost(host)
  return host === '' || host.length > LONGEST ? undefined : host
}
