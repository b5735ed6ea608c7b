import { snakeCase } from '../../lib/text/snake-case.js'

/** Words of properties that hold secrets. */
const SECRET_WORDS: ReadonlySet<string> = new Set([
  ...['password', 'passwd', 'pwd', 'pin', 'otp', 'token', 'hash', 'salt'],
  ...['secret', 'key', 'credential', 'private', 'refresh'],
])
/** `tokenCount` is a number of tokens. */
const COUNTING_WORDS: ReadonlySet<string> = new Set(['count', 'length'])

/**
 * The word of a property's name that says it holds a secret: `apiKey` does, `keyboard` and `tokenCount` do
 * not.
 */
export function secretWord(property: string): string | undefined {
  const words = snakeCase(property).split(/[^a-z]+/)
  if (COUNTING_WORDS.has(words.at(-1) ?? '')) return undefined
  return words.find((word) => SECRET_WORDS.has(word) || SECRET_WORDS.has(word.replace(/s$/, '')))
}
