/**
 * The character that the letter after a backslash stands for in a string of RFC 8259; `u` is followed by its
 * digits.
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
