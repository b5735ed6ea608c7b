import { Cursor, isWord, listOf, nameOf } from './cursor.js'
import type { Statement } from './split-statements.js'
import type { Syntax } from './syntax.js'
import type { Token } from './tokenize.js'

type Tokens = readonly Token[]

/** Returns true if the statement changes which tables exist, or their definition. */
export const isDdl = ({ tokens: [verb] }: Statement): boolean =>
  ['CREATE', 'ALTER', 'DROP', 'RENAME', 'TRUNCATE'].some((word) => isWord(verb, word))

export interface Column {
  readonly name: string
  /** The column's type, default and constraints. */
  readonly definition: Tokens
}

export interface CreateTable {
  readonly table: string
  readonly isTemporary: boolean
  readonly columns: readonly Column[]
  /** The part after the parentheses: engine, partitions, `AS`. */
  readonly options: Tokens
}

export function createTable({ tokens, syntax }: Statement): CreateTable | undefined {
  const cursor = new Cursor(tokens)
  if (!cursor.take('CREATE')) return undefined
  cursor.skip('OR', 'REPLACE', 'GLOBAL', 'LOCAL', 'UNLOGGED')
  const isTemporary = cursor.take('TEMP') || cursor.take('TEMPORARY')
  if (!cursor.take('TABLE')) return undefined
  cursor.take('IF', 'NOT', 'EXISTS')
  const table = cursor.name() ?? ''
  const inside = cursor.inParentheses() ?? []
  const columns = listOf(inside).flatMap((part) => toColumn(part, syntax))
  return { table, isTemporary, columns, options: cursor.rest }
}

export interface AlterTable {
  readonly table: string
  /** The actions, which are separated by commas. */
  readonly actions: readonly Tokens[]
}

export function alterTable({ tokens }: Statement): AlterTable | undefined {
  const cursor = new Cursor(tokens)
  if (!cursor.take('ALTER')) return undefined
  cursor.skip('ONLINE', 'IGNORE', 'FOREIGN')
  if (!cursor.take('TABLE')) return undefined
  cursor.take('IF', 'EXISTS')
  cursor.take('ONLY')
  const table = cursor.name() ?? ''
  cursor.take('*')
  return { table, actions: listOf(cursor.rest) }
}

/** Returns the columns that one action of ALTER TABLE adds; MySQL may add several in parentheses. */
export function addedColumns(action: Tokens, syntax: Syntax): readonly Column[] {
  const cursor = new Cursor(action)
  if (!cursor.take('ADD')) return []
  const said = cursor.take('COLUMN')
  cursor.take('IF', 'NOT', 'EXISTS')
  const several = cursor.inParentheses()
  if (several !== undefined) return listOf(several).flatMap((part) => toColumn(part, syntax))
  return said ? columnOf(cursor.rest) : toColumn(cursor.rest, syntax)
}

export interface AddedConstraint {
  readonly kind: 'PRIMARY' | 'UNIQUE' | 'FOREIGN' | 'CHECK' | 'EXCLUDE'
  readonly definition: Tokens
}

export function addedConstraint(action: Tokens): AddedConstraint | undefined {
  const cursor = new Cursor(action)
  if (!cursor.take('ADD')) return undefined
  if (cursor.take('CONSTRAINT') && !KINDS.some((word) => cursor.sees(word))) {
    cursor.take('IF', 'NOT', 'EXISTS')
    cursor.name()
  }
  const kind = KINDS.find((word) => cursor.sees(word))
  return kind && { kind, definition: cursor.rest }
}

const KINDS = ['PRIMARY', 'UNIQUE', 'FOREIGN', 'CHECK', 'EXCLUDE'] as const

/** Returns the column of `ALTER [COLUMN] name …`, and the change to it. */
export function alteredColumn(
  action: Tokens,
): { readonly name: string; readonly change: Tokens } | undefined {
  const cursor = new Cursor(action)
  if (!cursor.take('ALTER') || cursor.sees('CONSTRAINT') || cursor.sees('INDEX')) return undefined
  cursor.take('COLUMN')
  const name = cursor.name() ?? ''
  return { name, change: cursor.rest }
}

/** Returns the column that one action of ALTER TABLE drops. */
export function droppedColumn(action: Tokens, syntax: Syntax): string | undefined {
  const cursor = new Cursor(action)
  if (!cursor.take('DROP')) return undefined
  const isColumn = cursor.take('COLUMN') || !syntax.notDroppedColumns.some((word) => cursor.sees(word))
  cursor.take('IF', 'EXISTS')
  return isColumn ? (cursor.name() ?? '') : undefined
}

export interface CreateIndex {
  /** The name of the index. Empty if the server chooses it. */
  readonly name: string
  readonly table: string
  /** The parts of both names. */
  readonly paths: { readonly name: readonly string[]; readonly table: readonly string[] }
  readonly isConcurrent: boolean
}

export function createIndex({ tokens }: Statement): CreateIndex | undefined {
  const cursor = new Cursor(tokens)
  if (!cursor.take('CREATE')) return undefined
  cursor.skip('OR', 'REPLACE', 'UNIQUE', 'FULLTEXT', 'SPATIAL', 'ONLINE', 'OFFLINE')
  if (!cursor.take('INDEX')) return undefined
  const isConcurrent = cursor.take('CONCURRENTLY')
  cursor.take('IF', 'NOT', 'EXISTS')
  const name = cursor.sees('ON') ? [] : (cursor.path() ?? [])
  while (cursor.rest.length > 0 && !cursor.take('ON')) if (cursor.name() === undefined) break
  cursor.take('ONLY')
  const table = cursor.path() ?? []
  return { name: name.join('.'), table: table.join('.'), paths: { name, table }, isConcurrent }
}

export interface Drop {
  /** The type of the dropped objects, such as `TABLE`, `INDEX` or `DATABASE`. */
  readonly what: string
  readonly names: readonly string[]
  /** The parts of the names. */
  readonly paths: readonly (readonly string[])[]
  readonly isConcurrent: boolean
  readonly ifExists: boolean
}

export function dropped({ tokens }: Statement): Drop | undefined {
  const cursor = new Cursor(tokens)
  if (!cursor.take('DROP')) return undefined
  cursor.skip('TEMPORARY', 'MATERIALIZED', 'FOREIGN')
  const [first] = cursor.rest
  if (first === undefined || first.kind !== 'word') return undefined
  cursor.take(first.value)
  const isConcurrent = cursor.take('CONCURRENTLY')
  const ifExists = cursor.take('IF', 'EXISTS')
  const paths = listOf(cursor.rest).map((part) => new Cursor(part).path() ?? [])
  return { what: first.value, names: paths.map((path) => path.join('.')), paths, isConcurrent, ifExists }
}

/** Returns a column's type: its words up to the first that starts a constraint, in upper case. */
export function typeOf({ definition }: Column): { readonly name: string; readonly isQuoted: boolean } {
  const [first, dot, second] = definition
  const token = isWord(dot, '.') ? second : first
  return { name: token === undefined ? '' : nameOf(token).toUpperCase(), isQuoted: token?.kind === 'quoted' }
}

/** Returns the column in one part of a column list. Empty for a constraint or a key. */
function toColumn(part: Tokens, syntax: Syntax): readonly Column[] {
  return syntax.notColumns.some((word) => isWord(part[0], word)) ? [] : columnOf(part)
}

function columnOf(part: Tokens): readonly Column[] {
  const [first, ...definition] = part
  if (first === undefined || (first.kind !== 'word' && first.kind !== 'quoted')) return []
  return [{ name: nameOf(first), definition }]
}
