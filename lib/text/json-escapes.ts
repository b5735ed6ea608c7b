/**
 * Maps the letter of a JSON escape sequence (RFC 8259) to its character. `u` is followed by its digits.
 */
export const JSON_ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}
