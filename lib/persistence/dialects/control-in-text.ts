import type { Dialect } from './dialect.js'

/**
 * The statement in a text that begins or ends a transaction or a savepoint, as its words; undefined when
 * there is none. Statements inside of procedures or prepared texts are not found.
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

/** Begins a word that is in no quotes; anything else that is a token is skipped. */
const WORD = /^[A-Za-z_]\w*$/

function controlOf(words: readonly string[], control: RegExp): string | undefined {
  const statement = words.join(' ')
  return control.test(statement) ? words.slice(0, 3).join(' ').toUpperCase() : undefined
}

/** The control words of every engine. */
const CONTROL =
  'BEGIN|START TRANSACTION|COMMIT|END|ROLLBACK|ABORT|SAVEPOINT|RELEASE|SET (?:\\w+ )?TRANSACTION'

/** @param more - statements of one engine. */
export const controlStatements = (more = ''): RegExp => new RegExp(`^(?:${CONTROL}${more})\\b`, 'i')
