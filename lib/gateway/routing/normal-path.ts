/** Matches characters that are escaped in a path, and the beginning of a dot segment. */
const UNUSUAL = /[^A-Za-z0-9\-._~!$&'()*+,;=:@/]|\/\./

/**
 * Returns the normal form of a path (RFC 3986 section 6.2.2, and the URL standard where it differs): dot
 * segments are removed; `\` becomes `/`; letters, digits, `-`, `.`, `_` and `~` are unescaped; other escapes
 * are in upper case. `%2F` and empty segments are kept.
 * @param path - begins with `/` and contains neither query nor fragment.
 */
export function normalPath(path: string): string {
  if (!UNUSUAL.test(path)) return path
  return new URL(`http://localhost${path.replace(/%[0-9A-Fa-f]{2}/g, respell)}`).pathname
}

function respell(escape: string): string {
  const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
  return /[A-Za-z0-9\-._~]/.test(character) ? character : escape.toUpperCase()
}
