import { Cursor, isWord, nameOf } from '../sql/cursor.js'
import { splitStatements, type Statement } from '../sql/split-statements.js'
import type { Syntax } from '../sql/syntax.js'
import { createTable } from '../sql/statement-shape.js'

/**
 * Returns the statements of a schema dump that create objects. Statements that only concern the dump are
 * omitted: session settings, drops of the created objects, owners, definers, locks, and psql commands.
 *
 * @param schema - the schema that exists without the dump.
 */
export function statementsOfDump(dump: string, syntax: Syntax, schema: string): readonly string[] {
  const sql = dump.replaceAll('\r\n', '\n').replaceAll(/^\\.*$/gm, '')
  return inOrder(
    splitStatements(sql, syntax).statements.filter((one) => makesSomething(one) && !makesSchema(one, schema)),
  ).map(withoutDefiner)
}

/**
 * Removes the definer of views, triggers and routines, so that they belong to the user who runs the file. The
 * dumped database's definer may not exist.
 */
const withoutDefiner = (text: string): string => text.replace(DEFINER, '$1')

const DEFINER =
  /^((?:\/\*!\d+ )?CREATE\b(?:(?!\b(?:TABLE|TRIGGER|VIEW|PROCEDURE|FUNCTION|EVENT)\b)[^(])*?)DEFINER\s*=\s*(?:`[^`]*`|\w+)(?:@(?:`[^`]*`|\w+))?[ ]?/i

/** A table with its triggers, or another statement. */
interface Part {
  readonly table: string | undefined
  readonly refersTo: readonly string[]
  readonly texts: string[]
}

/**
 * Sorts tables after those that they refer to. A MySQL dump is in alphabetical order and disables foreign key
 * checks. If tables refer to each other, the checks stay disabled.
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

/**
 * The number of tokens to search for TRIGGER, because a definer may precede it: `CREATE DEFINER=`user`@`host`
 * TRIGGER`.
 */
const LONGEST_HEAD = 10

const targetsOf = ({ tokens }: Statement): readonly string[] =>
  tokens.flatMap((token, at) =>
    isWord(token, 'REFERENCES') ? (new Cursor(tokens.slice(at + 1)).name() ?? []) : [],
  )

/**
 * Returns true for the statement that creates the module's schema, which exists before the first file runs.
 */
const makesSchema = ({ tokens: [verb, what, name] }: Statement, schema: string): boolean =>
  isWord(verb, 'CREATE') && isWord(what, 'SCHEMA') && name !== undefined && nameOf(name) === schema

function makesSomething({ tokens, text }: Statement): boolean {
  // mysqldump first creates a placeholder for each view, and replaces it at the end.
  if (text.startsWith('/*!') && /\bDROP VIEW\b/i.test(text)) return true
  // Skip a comment that the server executes, such as a setting of mysqldump.
  if (text.startsWith('/*') && !/\b(CREATE|ALTER)\b/i.test(text)) return false
  const cursor = new Cursor(tokens)
  if (!['CREATE', 'ALTER', 'COMMENT'].some((verb) => cursor.sees(verb))) return false
  if (cursor.sees('COMMENT', 'ON', 'SCHEMA') || cursor.sees('ALTER', 'DATABASE')) return false
  return !tokens.some((token, at) => isWord(token, 'OWNER') && isWord(tokens[at + 1], 'TO'))
}
