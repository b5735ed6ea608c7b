import type { Query, TableName } from './table-definition.js'

/** A column that takes different texts for the same, or alters values. */
export interface InexactColumn {
  readonly column: string
  /** Its type or collation, for people. */
  readonly what: string
  /** The way in which it alters values. Undefined if it treats different strings as equal. */
  readonly effect?: string
  readonly advice: string
}

/** A column that has to be compared exactly. */
export interface IdentifyingColumn {
  readonly column: string
  /** The type that it should have. */
  readonly type: string
  /** True if one of a type does, by its name in the catalog. Undefined where a collation decides. */
  readonly isExactAs?: ((type: string) => boolean | undefined) | undefined
  /**
   * The way in which a type, by its name in the catalog, alters values. Then nothing else of the column is
   * compared.
   */
  readonly alteredBy?: ((type: string) => string | undefined) | undefined
  /** The collation that the entity declares. Statements still compare the column by code point. */
  readonly collation?: string | undefined
  /** The declaration of a collation in an entity; undefined if it cannot declare one. */
  readonly declare?: ((collation: string) => string) | undefined
}

/** The columns that are not compared exactly; undefined if the table is missing. */
export type InexactColumns = (
  query: Query,
  table: TableName,
  columns: readonly IdentifyingColumn[],
) => Promise<readonly InexactColumn[] | undefined>

/** The problem of such a column. */
export const inexactText = ({ what, effect = 'treats different strings as equal' }: InexactColumn): string =>
  `has the ${what}, which ${effect}`

type Row = readonly unknown[]

/** Why a column that is not a string is not compared exactly; undefined where it is. */
export const wrongType = (
  { column, type, isExactAs }: IdentifyingColumn,
  found: string,
): InexactColumn | undefined =>
  isExactAs?.(found) === false ? { column, what: `type ${found}`, advice: `use ${type}` } : undefined

/** The catalog's description of a column that is not exact. */
interface Inexactness extends Omit<InexactColumn, 'column'> {
  /** Set if it has no other problem. */
  readonly collation?: string
}

/** Nothing is wrong with the collation that the entity declares. */
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

/** The problem of each column, from a catalog's rows that begin with the name and the type. */
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
