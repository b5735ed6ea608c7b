import type { Dialect } from './dialect.js'

/**
 * Returns the words of a statement in `text` that begins or ends a transaction or a savepoint, or undefined
 * if there is none. Statements inside procedures and prepared strings are not found.
 */
export function transactionControl(
  text: string,
  { text: { tokens }, transactions: { control } }: Dialect,
): string | undefined {
  let words: string[] = []
  for (const [token] of text.matchAll(tokens)) {
    if (token === ';') {
      const found = controlOf(words, control)
      if (found !== undefined) return found
      words = []
    } else if (WORD.test(token)) words.push(token)
  }
  return controlOf(words, control)
}

/** Matches a token that is an unquoted word. Other tokens are skipped. */
const WORD = /^[A-Za-z_]\w*$/

function controlOf(words: readonly string[], control: RegExp): string | undefined {
  const statement = words.join(' ')
  return control.test(statement) ? words.slice(0, 3).join(' ').toUpperCase() : undefined
}

/** The control statements of every engine. */
const CONTROL =
  'BEGIN|START TRANSACTION|COMMIT|END|ROLLBACK|ABORT|SAVEPOINT|RELEASE|SET (?:\\w+ )?TRANSACTION'

/**
 * Returns a pattern for control statements.
 *
 * @param more - the statements of one engine.
 */
export const controlStatements = (more = ''): RegExp => new RegExp(`^(?:${CONTROL}${more})\\b`, 'i')
