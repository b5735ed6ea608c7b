/**
 * Parses a DSN as a URL. `pg` accepts a user without a host, as in
 * `postgres://ada@/app?host=/run/postgresql`, but Node's URL does not.
 */
export function urlOf(dsn: string): URL {
  if (URL.canParse(dsn)) return new URL(dsn)
  const withHost = dsn.replace('@/', '@localhost/')
  if (/^postgres/i.test(dsn) && URL.canParse(withHost)) return new URL(withHost)
  throw new TypeError(
    'DSN: not a URL: percent-encode every character in the user and password that is not a letter or a digit',
  )
}

/**
 * Decodes a part of a URL.
 *
 * @throws TypeError if a % does not begin a percent-encoding.
 */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new TypeError('DSN: a % that starts no percent-encoding: write it as %25')
  }
}

/** Returns the passwords in a DSN, in every encoding. */
export function secretsOf(url: URL): readonly string[] {
  const { password, username, searchParams } = url
  decoded(username)
  const queried = [...searchParams]
    .filter(([name]) => /pass|secret|token/i.test(name))
    .map(([, value]) => value)
  return [password, decoded(password), ...queried, ...queried.map(encodeURIComponent)].filter(
    (secret) => secret !== '',
  )
}
