/** `text` without the password of `url` and without any user:password of a connection string in it. */
export function redact(text: string, url: string): string {
  const hidden = [...passwords(url)].reduce((left, secret) => left.replaceAll(secret, '***'), text)
  return hidden.replaceAll(/([a-z][a-z0-9+.-]*:\/\/[^\s:/@]*):[^\s/]*@/gi, '$1:***@')
}

/** Shorter ones would blank out half of every text; the second pattern still finds them inside of URLs. */
const SHORTEST_PASSWORD = 4

function passwords(url: string): ReadonlySet<string> {
  const userInfo = /^[^:/?#]+:\/\/([^/?#]*)@/.exec(url)?.[1] ?? ''
  const written = userInfo.includes(':') ? userInfo.slice(userInfo.indexOf(':') + 1) : ''
  const inQuery = /[?&]password=([^&#]*)/i.exec(url)?.[1] ?? ''
  const found = [written, inQuery].flatMap((secret) => [secret, decoded(secret)])
  return new Set(found.filter((secret) => secret.length >= SHORTEST_PASSWORD))
}

function decoded(secret: string): string {
  try {
    return decodeURIComponent(secret)
  } catch {
    return secret
  }
}
