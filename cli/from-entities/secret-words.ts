import { snakeCase } from '../../lib/text/snake-case.js'

/** Words in names of properties that contain secrets. */
const SECRET_WORDS: ReadonlySet<string> = new Set([
  ...['password', 'passwd', 'pwd', 'pin', 'otp', 'token', 'hash', 'salt'],
  ...['secret', 'key', 'credential', 'private', 'refresh'],
])
/** Words that mark a number: `tokenCount` is a number of tokens. */
const COUNTING_WORDS: ReadonlySet<string> = new Set(['count', 'length'])

/**
 * Returns the word in a property's name that indicates a secret: `apiKey` has one, `keyboard` and
 * `tokenCount` have none.
 */
export function secretWord(property: string): string | undefined {
  const words = snakeCase(property).split(/[^a-z]+/)
  if (COUNTING_WORDS.has(words.at(-1) ?? '')) return undefined
  return words.find((word) => SECRET_WORDS.has(word) || SECRET_WORDS.has(word.replace(/s$/, '')))
}
