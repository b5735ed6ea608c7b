import type { ChangeFile } from '../dialects/catalog/change-sql.js'
import type { TableDifference } from '../../text/table-difference.js'
import type { TablePlan, UnfilledColumn } from './table-plan.js'

/** The two deployments that bring a database in line with the model. */
export interface SchemaPlan {
  /** For images of both versions: safe while the old one runs. */
  readonly expand: readonly ChangeFile[]
  /** For the time when no old image runs any more. */
  readonly contract: readonly ChangeFile[]
  /** The differences that the contract phase removes. */
  readonly left: readonly TableDifference[]
  /** Columns that have to be filled before the contract. */
  readonly fill: readonly UnfilledColumn[]
  /** The differences that must be changed manually. */
  readonly byHand: readonly TableDifference[]
}

/** All tables together: what a step needs of another table is there before it. */
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
