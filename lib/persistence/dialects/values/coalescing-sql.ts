import type { TableName } from '../catalog/table-definition.js'

/** The SQL of statements that several calls share. */
export interface CoalescingSql {
  readonly rules: TableRulesQuery
  /**
   * Returns the relation `k` for FROM. It has one row per call with the call's number, starting at 1, as `o`,
   * and its values as `v0`, `v1` and so on.
   *
   * @param types - the types of the values, as the catalog names them.
   */
  readonly calls: (types: readonly string[]) => string
  /** Returns the parameters for the values of at least one call. */
  readonly bound: (calls: readonly (readonly unknown[])[]) => readonly unknown[]
}

/**
 * Returns a query with one row per column of a table. Booleans are `t` or `f`. The columns of the result are:
 *
 * - true if the name is a table's;
 * - true if row-level security applies;
 * - true if writing many rows in one statement has the same effect as one statement per row;
 * - true if inserting a row never waits for another transaction;
 * - the column's name;
 * - its type;
 * - true if it is an array;
 * - true if writing it may wait for another transaction;
 * - true if even replacing NULL may wait;
 * - its type with length or precision.
 *
 * @param identity - the columns that identify a row, the key first.
 */
export type TableRulesQuery = (
  table: TableName,
  identity: readonly string[],
) => { readonly text: string; readonly values: readonly unknown[] }
