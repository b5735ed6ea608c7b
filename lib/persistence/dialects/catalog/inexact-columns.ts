import type { Query, TableName } from './table-definition.js'

/** A column that treats different strings as equal, or that changes values. */
export interface InexactColumn {
  readonly column: string
  /** The column's type or collation, for messages. */
  readonly what: string
  /** The change of values, as a clause. Undefined if the column treats different strings as equal. */
  readonly effect?: string
  readonly advice: string
}

/** A column that must be compared exactly. */
export interface IdentifyingColumn {
  readonly column: string
  /** The type that the column should have. */
  readonly type: string
  /**
   * Returns true if a type, by its catalog name, compares exactly. Returns undefined if the collation
   * decides.
   */
  readonly isExactAs?: ((type: string) => boolean | undefined) | undefined
  /**
   * Returns how a type, by its catalog name, changes stored values, or undefined if it does not. If set,
   * it is the only check of the column.
   */
  readonly alteredBy?: ((type: string) => string | undefined) | undefined
  /** The collation that the entity declares. Statements still compare the column by code point. */
  readonly collation?: string | undefined
  /** Returns the declaration of a collation in an entity. Undefined if entities cannot declare one. */
  readonly declare?: ((collation: string) => string) | undefined
}

/** Returns the columns that are not compared exactly, or undefined if the table does not exist. */
export type InexactColumns = (
  query: Query,
  table: TableName,
  columns: readonly IdentifyingColumn[],
) => Promise<readonly InexactColumn[] | undefined>

/** Returns the description of the problem. */
export const inexactText = ({ what, effect = 'treats different strings as equal' }: InexactColumn): string =>
  `has the ${what}, which ${effect}`

type Row = readonly unknown[]

/** Returns why a column that is not a string is not compared exactly, or undefined if it is. */
export const wrongType = (
  { column, type, isExactAs }: IdentifyingColumn,
  found: string,
): InexactColumn | undefined =>
  isExactAs?.(found) === false ? { column, what: `type ${found}`, advice: `use ${type}` } : undefined

/** The problem of a column that does not compare exactly. */
interface Inexactness extends Omit<InexactColumn, 'column'> {
  /** The column's collation, if it is the only problem. */
  readonly collation?: string
}

/** Returns undefined if the entity declares the collation. */
export function unlessDeclared(
  { column, collation: declared, declare }: IdentifyingColumn,
  { what, advice, collation }: Inexactness,
  spelled = (name: string) => name,
): readonly InexactColumn[] {
  if (collation === undefined) return [{ column, what, advice }]
  if (declared !== undefined && spelled(declared) === spelled(collation)) return []
  const other = declare === undefined ? advice : `${declare(collation)}, or ${advice}`
  return [{ column, what, advice: other }]
}

/** Returns the problems of columns. The rows of the catalog query begin with the column's name and type. */
export function inexactAmong(
  rows: readonly Row[],
  columns: readonly IdentifyingColumn[],
  spelled: (name: string) => string,
  problem: (row: Row) => Inexactness | undefined,
): readonly InexactColumn[] | undefined {
  if (rows.length === 0) return undefined
  const byName = new Map(rows.map((row) => [spelled(String(row[0])), row]))
  return columns.flatMap((one): InexactColumn[] => {
    const row = byName.get(spelled(one.column))
    if (row === undefined) return []
    if (one.alteredBy !== undefined) {
      const what = String(row[1])
      const effect = one.alteredBy(what)
      return effect === undefined
        ? []
        : [{ column: one.column, what: `type ${what}`, effect, advice: `use ${one.type}` }]
    }
    const isKnown = one.isExactAs?.(String(row[1])) !== undefined
    const wrong = isKnown ? wrongType(one, String(row[1])) : problem(row)
    return wrong === undefined ? [] : [...unlessDeclared(one, wrong, spelled)]
  })
}
