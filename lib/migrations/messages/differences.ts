import { commandLine, type CommandLine } from '../../text/command-line.js'
import { type TableDifference, tableDifferenceText } from '../../text/table-difference.js'
import { type KindsOf, type Messages, writtenBy } from './messages.js'
import { type MigrationProblem, problemText } from './problem.js'
import { type Unfinished, unfinishedText } from './unfinished.js'

/** A difference between a database and its migration files. */
export type Difference = KindsOf<typeof DIFFERENCES>

export type UnusableIndex = Extract<Difference, { readonly kind: 'busyIndex' | 'invalidIndex' }>

interface Of {
  version: string
}

/** The sentences of differences, with advice. `version` is a name such as `0002_widgets`. */
export const DIFFERENCES = {
  /** `refusal`: why lint rejects the file. `mayBeElsewhere`: the versions may be in another schema. */
  pending: (v: Of & { refusal?: string; mayBeElsewhere?: true }, command: CommandLine) => {
    if (v.refusal !== undefined)
      return `${v.version} is not applied, because migrate up rejects it: ${v.refusal}`
    return `${v.version} is not applied${v.mayBeElsewhere === true ? '' : `: run ${command('migrate up')}`}`
  },
  running: (v: Of & { holder: string | undefined }) =>
    `${v.version} is being migrated now, by ${v.holder ?? 'another session'}: check again when it has finished`,
  /** `error` is the error with which the run ended, if it reported one. */
  dirty: (
    v: Of & { error: string | undefined; unfinished: Unfinished | undefined; isOfTheseFiles: boolean },
    command: CommandLine,
  ) => {
    const left = v.unfinished === undefined ? '' : unfinishedText(v.unfinished)
    const known = [left, v.error ?? ''].filter((part) => part !== '').join('. ')
    const goesOn = v.isOfTheseFiles
      ? `: ${command('migrate up')} continues it`
      : ', and these files do not have it: run migrate up with --files and the folder that has it'
    return `${v.version} is dirty: ${known}${v.error === undefined && v.unfinished?.direction === 'up' ? goesOn : ''}`
  },
  edited: (v: Of, command: CommandLine) =>
    `${v.version} was edited after it was applied: restore the file and make the change in a new file; ${command('migrate repair')} shows the edit, and can accept it`,
  /** `name` is the version's name in these files. */
  otherName: (v: Of & { name: string }) =>
    `${v.version} is applied, but these files have ${v.name}: they belong to another database or module, or the file was renamed: name the right folder with --files, or restore the file`,
  ahead: (v: Of) =>
    `${v.version} is applied, but these files do not have it: a newer release applied it, or its file was removed; use the files of that release, restore the file, or roll it back`,
  /** Another tool's history, because of which `up` rejects the database. */
  refused: (v: { problem: { readonly kind: string } }, command: CommandLine) =>
    `up rejects this database: ${problemText(v.problem as MigrationProblem, command)}`,
  /** One of Ashlar's tables is missing. */
  missingTable: (v: { table: string }) =>
    `the framework’s table ${v.table} is missing, and calls that need it fail: create it as the framework’s migrations define it`,
  /** One of Ashlar's tables lacks the columns in `lacks`. */
  incompleteTable: (v: { table: string; lacks: readonly string[] }) =>
    `the framework’s table ${v.table} lacks ${v.lacks.join(', ')}, and calls that need it fail: add the columns as the framework’s migrations define them`,
  busyIndex: (v: { index: string }) =>
    `the index ${v.index} is being built or dropped by a session now: check again when it has finished`,
  /** `leftBy` is the version whose run left the index behind. */
  invalidIndex: (v: { index: string; leftBy: string | undefined; isOfReindex: boolean }) => {
    const left =
      v.leftBy === undefined
        ? ADVICE[v.isOfReindex ? 'reindex' : 'other']
        : `${v.leftBy} left it behind, and its next run drops it`
    return `the index ${v.index} is INVALID: no query uses it, but every write maintains it; ${left}`
  },
} satisfies Messages

const ADVICE = {
  reindex: 'a REINDEX left it behind, and DROP INDEX CONCURRENTLY removes it',
  other:
    'REINDEX INDEX CONCURRENTLY rebuilds it if you need it, otherwise DROP INDEX CONCURRENTLY removes it',
}

/**
 * Returns a difference as one line, with advice.
 *
 * @param command - formats an `ashlar` command in the line.
 */
export const differenceText = (
  difference: Difference | TableDifference,
  command: CommandLine = commandLine,
): string =>
  'text' in difference
    ? tableDifferenceText(difference, false, command)
    : writtenBy(DIFFERENCES, difference, command)
