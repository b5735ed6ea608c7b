import type { TableDifference } from '../../text/table-difference.js'
import type { ChangeFile } from '../dialects/catalog/change-sql.js'
import type { TableDefinition } from '../dialects/catalog/table-definition.js'
import { tableText } from '../schema/table-name-of.js'
import type { Difference } from './table-differences.js'

/** The steps that change one table, grouped by their order. */
export interface TablePlan {
  readonly alter: ChangeFile[]
  readonly copy: ChangeFile[]
  readonly index: ChangeFile[]
  readonly link: ChangeFile[]
  readonly unlink: ChangeFile[]
  readonly unindex: ChangeFile[]
  readonly settle: ChangeFile[]
  readonly drop: ChangeFile[]
  readonly relink: ChangeFile[]
  /** Columns to be filled before the contract phase. */
  readonly fill: UnfilledColumn[]
  readonly left: TableDifference[]
  readonly byHand: TableDifference[]
}

/** A column that must be filled before it can be required. */
export interface UnfilledColumn {
  /** The table's name, such as `widgets` or `inventory.widgets`. */
  readonly table: string
  readonly column: string
  /** A query for the rows without a value. */
  readonly fill: string
}

export const emptyPlan = (): TablePlan => ({
  ...{ alter: [], copy: [], index: [], link: [], unlink: [], unindex: [], settle: [], drop: [], relink: [] },
  ...{ fill: [], left: [], byHand: [] },
})

/**
 * Returns the part of a column's change that is deferred or must be made manually. The text follows the name
 * of the column.
 */
export function columnLeft(
  definition: TableDefinition,
  kind: Difference['kind'],
  column: string,
  text: string,
  rest: Partial<TableDifference> = {},
): TableDifference {
  const table = tableText(definition)
  return { kind, table, column, text: `${table}.${column} ${text}`, ...rest }
}

/** Returns the part of an index's change that is deferred or must be made manually. */
export const indexLeft = (
  definition: TableDefinition,
  index: string,
  is: string,
  detail: string,
  rest: Pick<TableDifference, 'next'> = {},
): TableDifference => {
  const table = tableText(definition)
  return { kind: 'extraIndex', table, text: `the index ${index} of ${table} is ${is}`, detail, ...rest }
}
