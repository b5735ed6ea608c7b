import type { Query, TableName } from './table-definition.js'

/** A column that takes different texts for the same. */
export interface InexactColumn {
  readonly column: string
  /** Its type or collation, for people. */
  readonly what: string
  readonly advice: string
}

/** Those of the columns that are not compared exactly; undefined while there is no such table. */
export type InexactColumns = (
  query: Query,
  table: TableName,
  columns: readonly string[],
) => Promise<readonly InexactColumn[] | undefined>

type Row = readonly unknown[]

/** What is wrong with each column, by a catalog's rows that begin with the name. */
export function inexactAmong(
  rows: readonly Row[],
  columns: readonly string[],
  spelled: (name: string) => string,
  problem: (row: Row) => Omit<InexactColumn, 'column'> | undefined,
): readonly InexactColumn[] | undefined {
  if (rows.length === 0) return undefined
  const byName = new Map(rows.map((row) => [spelled(String(row[0])), row]))
  return columns.flatMap((column): InexactColumn[] => {
    const row = byName.get(spelled(column))
    const wrong = row && problem(row)
    return wrong === undefined ? [] : [{ column, ...wrong }]
  })
}
