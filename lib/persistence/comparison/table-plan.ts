import type { TableDifference } from '../../text/table-difference.js'
import type { ChangeFile } from '../dialects/catalog/change-sql.js'
import type { TableDefinition } from '../dialects/catalog/table-definition.js'
import { tableText } from '../schema/table-name-of.js'
import type { Difference } from './table-differences.js'

/** The steps of one table, by what has to come first. */
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
  /** Columns that have to be filled before the contract. */
  readonly fill: UnfilledColumn[]
  readonly left: TableDifference[]
  readonly byHand: TableDifference[]
}

/** A column that has to be filled before it can be required. */
export interface UnfilledColumn {
  /** `widgets`, or `inventory.widgets`. */
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
 * The part of a column's change that is left for later, or must be done manually. The text follows its name.
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

/** The same of an index. */
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
