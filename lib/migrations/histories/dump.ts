import { Cursor, isWord, nameOf } from '../sql/cursor.js'
import { splitStatements, type Statement } from '../sql/split-statements.js'
import type { Syntax } from '../sql/syntax.js'
import { createTable } from '../sql/statement-shape.js'

/**
 * The statements of a schema dump that make something, without what a dump says for itself: settings of its
 * session, drops of what it makes, owners, definers, locks, and commands of psql.
 * @param schema - which is there without the dump.
 */
export function statementsOfDump(dump: string, syntax: Syntax, schema: string): readonly string[] {
  const sql = dump.replaceAll('\r\n', '\n').replaceAll(/^\\.*$/gm, '')
  return inOrder(
    splitStatements(sql, syntax).statements.filter((one) => makesSomething(one) && !makesSchema(one, schema)),
  ).map(withoutDefiner)
}

/**
 * Without a definer, views, triggers and routines belong to the user that runs the file. The one of the
 * dumped database may not be there.
 */
const withoutDefiner = (text: string): string => text.replace(DEFINER, '$1')

const DEFINER =
  /^((?:\/\*!\d+ )?CREATE\b(?:(?!\b(?:TABLE|TRIGGER|VIEW|PROCEDURE|FUNCTION|EVENT)\b)[^(])*?)DEFINER\s*=\s*(?:`[^`]*`|\w+)(?:@(?:`[^`]*`|\w+))?[ ]?/i

/** A table with its triggers, or a statement of another kind. */
interface Part {
  readonly table: string | undefined
  readonly refersTo: readonly string[]
  readonly texts: string[]
}

/**
 * Sorts each table after those that it refers to: a MySQL dump is in alphabetical order, with foreign key
 * checks off. If tables refer to each other, the checks stay off.
 */
function inOrder(statements: readonly Statement[]): readonly string[] {
  const parts: Part[] = []
  for (const statement of statements) {
    const table = createTable(statement)?.table
    const last = parts.at(-1)
    if (last?.table !== undefined && makesTrigger(statement)) last.texts.push(statement.text)
    else
      parts.push({
        table,
        refersTo: table === undefined ? [] : targetsOf(statement),
        texts: [statement.text],
      })
  }
  const texts: string[] = []
  const begun = new Set<Part>()
  const ended = new Set<Part>()
  const unordered: Part[] = []
  const add = (part: Part): void => {
    if (begun.has(part)) {
      if (!ended.has(part)) unordered.push(part)
      return
    }
    begun.add(part)
    for (const target of part.refersTo) {
      const other = parts.find(({ table }) => table === target)
      if (other !== undefined && other !== part) add(other)
    }
    texts.push(...part.texts)
    ended.add(part)
  }
  parts.forEach(add)
  return unordered.length > 0 ? ['SET FOREIGN_KEY_CHECKS = 0', ...texts, 'SET FOREIGN_KEY_CHECKS = 1'] : texts
}

const makesTrigger = ({ tokens }: Statement): boolean =>
  isWord(tokens[0], 'CREATE') && tokens.slice(0, LONGEST_HEAD).some((token) => isWord(token, 'TRIGGER'))

/** In front of TRIGGER may be a definer: `CREATE DEFINER=`user`@`host` TRIGGER`. */
const LONGEST_HEAD = 10

const targetsOf = ({ tokens }: Statement): readonly string[] =>
  tokens.flatMap((token, at) =>
    isWord(token, 'REFERENCES') ? (new Cursor(tokens.slice(at + 1)).name() ?? []) : [],
  )

/** The schema of the module is there before its first file runs. */
const makesSchema = ({ tokens: [verb, what, name] }: Statement, schema: string): boolean =>
  isWord(verb, 'CREATE') && isWord(what, 'SCHEMA') && name !== undefined && nameOf(name) === schema

function makesSomething({ tokens, text }: Statement): boolean {
  // mysqldump makes a stand-in for each view first, and the view in its place at the end.
  if (text.startsWith('/*!') && /\bDROP VIEW\b/i.test(text)) return true
  // A comment that the server executes, such as a setting of mysqldump.
  if (text.startsWith('/*') && !/\b(CREATE|ALTER)\b/i.test(text)) return false
  const cursor = new Cursor(tokens)
  if (!['CREATE', 'ALTER', 'COMMENT'].some((verb) => cursor.sees(verb))) return false
  if (cursor.sees('COMMENT', 'ON', 'SCHEMA') || cursor.sees('ALTER', 'DATABASE')) return false
  return !tokens.some((token, at) => isWord(token, 'OWNER') && isWord(tokens[at + 1], 'TO'))
}
