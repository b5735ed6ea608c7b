import type { ChangeFile } from '../dialects/catalog/change-sql.js'
import type { TableDifference } from '../../text/table-difference.js'
import type { TablePlan, UnfilledColumn } from './table-plan.js'

/** The migrations of two deployments that bring a database in line with the model. */
export interface SchemaPlan {
  /** Migrations that are safe while older images run. */
  readonly expand: readonly ChangeFile[]
  /** Migrations to apply when no older image is running. */
  readonly contract: readonly ChangeFile[]
  /** The differences that the contract phase removes. */
  readonly left: readonly TableDifference[]
  /** Columns to be filled before the contract phase. */
  readonly fill: readonly UnfilledColumn[]
  /** The differences that must be changed manually. */
  readonly byHand: readonly TableDifference[]
}

/** Combines the plans of all tables. Steps that another table's steps depend on come first. */
export function joined(made: readonly ChangeFile[], tables: readonly TablePlan[]): SchemaPlan {
  const all = (step: Exclude<keyof TablePlan, 'fill' | 'left' | 'byHand'>) =>
    tables.flatMap((table) => table[step])
  return {
    expand: [...made, ...all('alter'), ...all('copy'), ...all('index'), ...all('link')],
    contract: [...all('unlink'), ...all('unindex'), ...all('settle'), ...all('drop'), ...all('relink')],
    fill: tables.flatMap(({ fill }) => fill),
    left: tables.flatMap(({ left }) => left),
    byHand: tables.flatMap(({ byHand }) => byHand),
  }
}
