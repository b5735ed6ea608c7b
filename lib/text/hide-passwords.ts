/**
 * Returns `text` with every password of the connection string `url` replaced by three asterisks. Passwords of
 * other connection strings in it are hidden as well. A `url` that is not a URL is hidden completely. Never
 * throws.
 */
export function hidePasswords(text: string, url: string): string {
  const longestFirst = [...passwordsOf(url)].sort((a, b) => b.length - a.length)
  const hidden = longestFirst.reduce((left, secret) => left.replaceAll(secret, '***'), text)
  return hidden.replaceAll(/([a-z][a-z0-9+.-]*:\/\/[^\s:/@]*):[^\s/]*@/gi, '$1:***@')
}

/**
 * Hiding shorter passwords would hide parts of ordinary text. Inside a connection string they are still
 * found.
 */
const SHORTEST_PASSWORD = 3

function passwordsOf(url: string): ReadonlySet<string> {
  const isUrl = /^\s*[a-z][a-z0-9+.-]*:/i.test(url) && !/^\s*[^:/?#]+:[^/?#]*@/.test(url)
  if (!isUrl) return new Set(url.length < SHORTEST_PASSWORD ? [] : [url])
  const userInfo = /^[^:/?#]+:\/\/([^/?#]*)@/.exec(url)?.[1] ?? ''
  const written = userInfo.includes(':') ? userInfo.slice(userInfo.indexOf(':') + 1) : ''
  const inQuery = [...url.matchAll(/[?&][^=&#]*(?:pass|secret|token)[^=&#]*=([^&#]*)/gi)]
  const found = [written, ...inQuery.map(([, value = '']) => value)].flatMap((secret) => [
    secret,
    decoded(secret),
    encodeURIComponent(decoded(secret)),
  ])
  return new Set(found.filter((secret) => secret.length >= SHORTEST_PASSWORD))
}

function decoded(secret: string): string {
  try {
    return decodeURIComponent(secret)
  } catch {
    return secret
  }
}
