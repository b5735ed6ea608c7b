import { commandLine, type CommandLine } from '../../text/command-line.js'
import { toFileNumber, toFileNumbers } from './numbers.js'
import { type MigrationProblem, problemText } from './problem.js'

/** The effect of another tool's history on the next `up`. */
export type OtherHistory =
  /** `up` refuses the database because of it. */
  | { readonly isRefused: true; readonly problem: { readonly kind: string } }
  /** `up` records these versions without running them: the table of another tool is at `at`. */
  | {
      readonly isRefused: false
      readonly table: string
      readonly at: number
      readonly versions: readonly number[]
    }

/** The effect of another tool's history on the next `up`, in one sentence. */
export const historyText = (other: OtherHistory, command: CommandLine = commandLine): string =>
  other.isRefused
    ? `up refuses this database: ${problemText(other.problem as MigrationProblem, command)}`
    : `${other.table} is at ${toFileNumber(other.at)}: up takes over ${toFileNumbers(other.versions)} without running them`
