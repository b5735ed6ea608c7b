import { Cursor, hasWords, indexOfWords, isWord, listOf, nameOf } from './cursor.js'
import { addedConstraint, alterTable } from './statement-shape.js'
import type { Statement } from './split-statements.js'
import type { Token } from './tokenize.js'

/**
 * The constraint that rows violate. `column` is NOT NULL or a length; `other` is a constraint without a known
 * query, such as an invalid number.
 */
export type Broken = 'unique' | 'foreign' | 'check' | 'column' | 'other'

/** A query for the rows that violate a constraint. */
interface Finder {
  readonly broken: Broken
  readonly query: string
}

/**
 * Returns a query that finds the rows that violate a table change, or undefined if the statement does not
 * show the constraint.
 *
 * @param before - the preceding statements of the file.
 * @param prefix - the schema of tables that are named without one, such as `inventory.`.
 */
export function findingRows(
  statement: Statement,
  before: readonly Statement[],
  broken: Broken,
  prefix: string,
): string | undefined {
  const found = findersOf(statement, before, prefix).filter((one) => one.broken === broken)
  return found.length === 1 ? found[0]?.query : undefined
}

/**
 * Returns queries for the rows that make a statement fail, like `findingRows`, if the statement reads
 * existing rows.
 *
 * @param before - the preceding statements of its file and of earlier files.
 */
export const rowsThatFail = (
  statement: Statement,
  before: readonly Statement[],
  prefix: string,
): readonly string[] => findersOf(statement, before, prefix).map(({ query }) => query)

/**
 * Returns the columns of a unique key that a statement adds to a table, or undefined if it adds none or a key
 * of expressions.
 */
export function uniqueColumns(statement: Statement): readonly string[] | undefined {
  const index = uniqueIndex(statement.tokens)?.columns
  const [columns] =
    index === undefined ? (alterTable(statement)?.actions ?? []).flatMap(addedKey) : [listOf(index)]
  const names = columns?.map(([column, ...more]) => (more.length === 0 && column ? nameOf(column) : ''))
  return names === undefined || names.includes('') ? undefined : names
}

/** Returns the columns of `ADD CONSTRAINT name UNIQUE (a, b)`. */
function addedKey(action: readonly Token[]): readonly (readonly (readonly Token[])[])[] {
  const added = addedConstraint(action)
  if (added?.kind !== 'UNIQUE') return []
  const cursor = new Cursor(added.definition)
  cursor.skip('UNIQUE', 'KEY', 'INDEX')
  if (!cursor.sees('(')) cursor.name()
  const columns = cursor.inParentheses()
  return columns === undefined ? [] : [listOf(columns)]
}

function findersOf(statement: Statement, before: readonly Statement[], prefix: string): readonly Finder[] {
  const index = uniqueIndex(statement.tokens)
  if (index !== undefined) return duplicates(placed(index.table, prefix), index.columns, index.where)
  const altered = alterTable(statement)
  if (altered === undefined) return []
  const table = placed(tableOf(statement.tokens), prefix)
  return altered.actions.flatMap((action) => {
    const validated = constraintOf(action, 'VALIDATE')
    const added = validated === undefined ? action : earlier(before, altered.table, validated)
    return [...ofConstraint(table, added, prefix), ...ofColumn(table, added)]
  })
}

/** Returns the action that added a constraint without checking the rows. */
const earlier = (before: readonly Statement[], table: string, name: string): readonly Token[] =>
  before
    .flatMap((one) => alterTable(one) ?? [])
    .filter((one) => one.table === table)
    .flatMap(({ actions }) => actions)
    .find((action) => constraintOf(action, 'ADD') === name) ?? []

function uniqueIndex(
  tokens: readonly Token[],
): { readonly table: string; readonly columns: readonly Token[]; readonly where: string } | undefined {
  const on = indexOfWords(tokens, 'ON')
  if (!isWord(tokens[0], 'CREATE') || !hasWords(tokens.slice(0, on), 'UNIQUE', 'INDEX')) return undefined
  const cursor = new Cursor(tokens.slice(on + 1))
  cursor.take('ONLY')
  const table = writtenName(cursor)
  if (cursor.take('USING')) cursor.name()
  const columns = cursor.inParentheses()
  if (columns === undefined || hasWords(cursor.rest, 'NOT', 'DISTINCT')) return undefined
  const where = indexOfWords(cursor.rest, 'WHERE')
  return { table, columns, where: where < 0 ? '' : textOf(cursor.rest.slice(where + 1)) }
}

function ofConstraint(table: string, action: readonly Token[], prefix: string): readonly Finder[] {
  const added = addedConstraint(action)
  if (added === undefined) return []
  const cursor = new Cursor(added.definition)
  cursor.take(added.kind)
  if (added.kind === 'CHECK') {
    const inside = cursor.inParentheses()
    return inside === undefined
      ? []
      : [{ broken: 'check', query: `SELECT * FROM ${table} WHERE NOT (${textOf(inside)})` }]
  }
  if (added.kind === 'EXCLUDE') return []
  cursor.skip('KEY', 'INDEX')
  if (!cursor.sees('(')) cursor.name()
  const columns = cursor.inParentheses()
  if (columns === undefined) return []
  if (added.kind !== 'FOREIGN') return duplicates(table, columns, '')
  if (!cursor.take('REFERENCES')) return []
  const parent = placed(writtenName(cursor), prefix)
  const theirs = cursor.inParentheses()
  if (theirs === undefined) return []
  const [own, keys] = [listOf(columns).map(textOf), listOf(theirs).map(textOf)]
  const isSet = own.map((column) => `c.${column} IS NOT NULL`).join(' AND ')
  const isSame = own.map((column, at) => `p.${keys[at] ?? ''} = c.${column}`).join(' AND ')
  const query = `SELECT c.* FROM ${table} AS c WHERE ${isSet} AND NOT EXISTS (SELECT 1 FROM ${parent} AS p WHERE ${isSame})`
  return [{ broken: 'foreign', query }]
}

/** Handles `ALTER COLUMN a SET NOT NULL` and `ALTER COLUMN a TYPE varchar(5)`, or MODIFY and CHANGE. */
function ofColumn(table: string, action: readonly Token[]): readonly Finder[] {
  const cursor = new Cursor(action)
  const isChanged = cursor.take('CHANGE')
  if (!isChanged && !cursor.take('MODIFY') && !cursor.take('ALTER')) return []
  cursor.take('COLUMN')
  const name = cursor.rest[0]?.text ?? ''
  const definition = cursor.rest.slice(isChanged ? 2 : 1)
  const length = LENGTH.exec(textOf(definition))?.[1]
  const conditions = [
    ...(hasWords(definition, 'NOT', 'NULL') ? [`${name} IS NULL`] : []),
    ...(length === undefined ? [] : [`char_length(${name}) > ${length}`]),
  ]
  return conditions.length === 0
    ? []
    : [{ broken: 'column', query: `SELECT * FROM ${table} WHERE ${conditions.join(' OR ')}` }]
}

const LENGTH = /^(?:SET DATA )?(?:TYPE )?(?:character varying|varchar|character|char)\s*\(\s*(\d+)\s*\)/i

/** Finds duplicate rows. NULLs are not duplicates. */
function duplicates(table: string, columns: readonly Token[], where: string): readonly Finder[] {
  const keys = listOf(columns).map(keyOf)
  if (keys.includes(undefined)) return []
  const names = keys.join(', ')
  const isSet = keys.map((key) => `${key ?? ''} IS NOT NULL`)
  const conditions = [...(where === '' ? [] : [`(${where})`]), ...isSet].join(' AND ')
  const query = `SELECT ${names}, count(*) FROM ${table} WHERE ${conditions} GROUP BY ${names} HAVING count(*) > 1`
  return [{ broken: 'unique', query }]
}

/**
 * Returns an index column as an expression, or undefined if it is more than an expression, such as a column
 * with an operator class.
 */
function keyOf(tokens: readonly Token[]): string | undefined {
  const end = tokens.findIndex((token) => ['ASC', 'DESC', 'NULLS'].some((word) => isWord(token, word)))
  const [first, open, length, ...more] = end < 0 ? tokens : tokens.slice(0, end)
  if (first === undefined) return undefined
  const isName = first.kind === 'word' || first.kind === 'quoted'
  if (open === undefined) return isName ? first.text : undefined
  if (isName && isWord(open, '(') && length?.kind === 'number' && more.length === 1)
    return `LEFT(${first.text}, ${length.text})`
  const text = textOf(end < 0 ? tokens : tokens.slice(0, end))
  return isWord(first, '(') || isWord(open, '(') || isWord(open, 'COLLATE') ? text : undefined
}

/** Returns the name of the constraint that an action of ALTER TABLE adds or validates. */
function constraintOf(action: readonly Token[], verb: 'ADD' | 'VALIDATE'): string | undefined {
  const cursor = new Cursor(action)
  return cursor.take(verb, 'CONSTRAINT') ? cursor.name() : undefined
}

/** Returns the name after ALTER TABLE, as written. */
function tableOf(tokens: readonly Token[]): string {
  const cursor = new Cursor(tokens)
  cursor.skip('ALTER', 'ONLINE', 'IGNORE', 'FOREIGN', 'TABLE', 'IF', 'EXISTS', 'ONLY')
  return writtenName(cursor)
}

/** Reads a name, and returns it with its quotes. */
function writtenName(cursor: Cursor): string {
  const { rest } = cursor
  cursor.path()
  return textOf(rest.slice(0, rest.length - cursor.rest.length))
}

const placed = (table: string, prefix: string): string => (table.includes('.') ? table : prefix + table)

/** Returns the tokens as written, on one line. */
const textOf = (tokens: readonly Token[]): string =>
  tokens
    .map(({ text, start }, at) => (at > 0 && start > (tokens[at - 1]?.end ?? 0) ? ` ${text}` : text))
    .join('')
