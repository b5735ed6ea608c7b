import { commandLine, type CommandLine } from '../../text/command-line.js'
import { toFileNumber, toFileNumbers } from './numbers.js'
import { type MigrationProblem, problemText } from './problem.js'

/** The effect of another tool's history on the next `up`. */
export type OtherHistory =
  /** `up` rejects the database because of this history. */
  | { readonly isRefused: true; readonly problem: { readonly kind: string } }
  /** `up` records these versions without running them, because the other tool's table is at version `at`. */
  | {
      readonly isRefused: false
      readonly table: string
      readonly at: number
      readonly versions: readonly number[]
    }

/**
 * Returns the effect of another tool's history on the next `up`, as a sentence.
 * @internal
 */
export const historyText = (other: OtherHistory, command: CommandLine = commandLine): string =>
  other.isRefused
    ? `up rejects this database: ${problemText(other.problem as MigrationProblem, command)}`
    : `${other.table} is at ${toFileNumber(other.at)}: up takes over ${toFileNumbers(other.versions)} without running them`
