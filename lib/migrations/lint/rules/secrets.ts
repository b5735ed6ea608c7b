import { isWord } from '../../sql/cursor.js'
import type { Rule } from './lint-rule.js'

/** Values that must not be stored in plain text, because the version table stores every file's SQL. */
export const SECRET_RULES: readonly Rule[] = [
  {
    name: 'password-in-a-file',
    level: 'danger',
    bothWays: true,
    check: ({ tokens }) =>
      tokens.some(
        ({ kind }, at) =>
          kind === 'string' && (isWord(tokens[at - 1], 'PASSWORD') || says(tokens, at, 'IDENTIFIED')),
      ),
  },
]

const says = (tokens: Parameters<Rule['check']>[0]['tokens'], at: number, word: string): boolean =>
  isWord(tokens[at - 2], word) || isWord(tokens[at - 4], word)
