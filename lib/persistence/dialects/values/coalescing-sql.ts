import type { TableName } from '../catalog/table-definition.js'

/** The SQL of statements that calls share. */
export interface CoalescingSql {
  readonly rules: TableRulesQuery
  /**
   * The table `k` after FROM: a row for each call, with its number from 1 as `o`, and with its values as
   * `v0`, `v1` and so on.
   * @param types - of the values, as the catalog names them.
   */
  readonly calls: (types: readonly string[]) => string
  /** The parameters that hold the values of calls, of which there is at least one. */
  readonly bound: (calls: readonly (readonly unknown[])[]) => readonly unknown[]
}

/**
 * Selects a row for each column of a table, `t` for true: whether the name is that of a table; whether
 * policies decide who sees its rows; whether a statement that writes many rows does nothing else than as many
 * statements of one row; whether a new row can wait for no other transaction; then the column, its type,
 * whether it holds arrays, whether who writes it may wait for another transaction, whether even who sets it
 * where it was NULL may, and its type with a length or precision.
 * @param identity - the columns that tell rows apart, the key first.
 */
export type TableRulesQuery = (
  table: TableName,
  identity: readonly string[],
) => { readonly text: string; readonly values: readonly unknown[] }
