import type { BoundedUpdate } from '../sql/backfill.js'
import type { Session } from './session.js'

/** A primary key column by which a table is traversed. */
export interface KeyColumn {
  /** The name in the catalog. */
  readonly column: string
  /** The quoted name. */
  readonly name: string
  /** Selects a value as a string that `literal` converts back to the same value. */
  readonly text: (expression: string) => string
  /** Returns a value's string as an SQL literal. */
  readonly literal: (text: string) => string
  /** Returns the right side of `=`, with its values. */
  readonly equals: (text: string) => { readonly sql: string; readonly values: readonly unknown[] }
}

/** A table in the order of its primary key. */
export interface WalkedTable {
  /** The quoted name. */
  readonly name: string
  /** Empty if the table has no primary key, or if it is not a table. */
  readonly key: readonly KeyColumn[]
  /** The server's estimate of the number of rows. Undefined if it has none. */
  readonly rows: number | undefined
}

/** The engine's SQL for traversing a table. */
export interface WalkSql {
  readonly find: (session: Session, path: BoundedUpdate['table']) => Promise<WalkedTable>
  /**
   * Returns a comparison of the key with a position, in a form for which the server only reads the matching
   * rows of the index.
   */
  readonly compare: (columns: readonly string[], operator: '>' | '<=', position: readonly string[]) => string
}

/** The rows after a position, up to another one. */
export interface Stretch {
  /** The key of the last row, as strings. */
  readonly end: readonly string[]
  readonly rows: number
}

/**
 * Returns the next rows of a table in key order, or undefined if there are none.
 *
 * @param from - the position. Undefined for the beginning.
 */
export async function nextStretch(
  session: Session,
  { name, key }: WalkedTable,
  from: readonly string[] | undefined,
  most: number,
): Promise<Stretch | undefined> {
  const names = key.map((column) => column.name)
  const behind = from === undefined ? '' : `WHERE ${rowsOf(session, key, names, '>', from)} `
  const [last] = await session.rows(
    `SELECT ${key.map((column, at) => `${column.text(column.name)} AS k${at}`).join(', ')}, count(*) OVER () AS n
     FROM (SELECT ${names.join(', ')} FROM ${name} ${behind}ORDER BY ${names.join(', ')} LIMIT ${most}) AS stretch
     ORDER BY ${names.map((column) => `${column} DESC`).join(', ')} LIMIT 1`,
  )
  return last && { end: key.map((_, at) => String(last[`k${at}`])), rows: Number(last.n) }
}

/**
 * Returns the condition for a table's rows after `from`, up to `to`.
 * @param alias - the qualifier of the columns.
 */
export function rowsBetween(
  session: Session,
  { key }: WalkedTable,
  alias: string,
  from: readonly string[] | undefined,
  to: readonly string[],
): string {
  const names = key.map((column) => `${alias}.${column.name}`)
  const upTo = rowsOf(session, key, names, '<=', to)
  return from === undefined ? upTo : `${rowsOf(session, key, names, '>', from)} AND ${upTo}`
}

const rowsOf = (
  { engine }: Session,
  key: readonly KeyColumn[],
  names: readonly string[],
  operator: '>' | '<=',
  position: readonly string[],
): string =>
  engine.walk.compare(
    names,
    operator,
    key.map((column, at) => column.literal(position[at] ?? '')),
  )
