import { Cursor, isWord } from '../sql/cursor.js'
import { splitStatements, type Statement } from '../sql/statements.js'
import type { Syntax } from '../sql/syntax.js'

/**
 * The statements of a schema dump that make something, without what a dump says for itself: settings of its session, drops of
 * what it makes, owners, locks, and commands of psql.
 */
export function statementsOfDump(dump: string, syntax: Syntax): readonly string[] {
  const sql = dump.replaceAll('\r\n', '\n').replaceAll(/^\\.*$/gm, '')
  return splitStatements(sql, syntax)
    .statements.filter(makesSomething)
    .map(({ text }) => text)
}

function makesSomething({ tokens, text }: Statement): boolean {
  // mysqldump makes a stand-in for each view first, and the view in its place at the end.
  if (text.startsWith('/*!') && /\bDROP VIEW\b/i.test(text)) return true
  // A comment that the server executes, such as a setting of mysqldump.
  if (text.startsWith('/*') && !/\b(CREATE|ALTER)\b/i.test(text)) return false
  const cursor = new Cursor(tokens)
  if (!['CREATE', 'ALTER', 'COMMENT'].some((verb) => cursor.sees(verb))) return false
  if (cursor.sees('CREATE', 'SCHEMA') && isWord(tokens[2], 'PUBLIC')) return false
  if (cursor.sees('COMMENT', 'ON', 'SCHEMA') || cursor.sees('ALTER', 'DATABASE')) return false
  return !tokens.some((token, at) => isWord(token, 'OWNER') && isWord(tokens[at + 1], 'TO'))
}
