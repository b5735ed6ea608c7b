import { commandLine, type CommandLine } from '../../text/command-line.js'
import { adviceText } from './advices.js'
import { type KindsOf, type Messages, writtenBy } from './messages.js'
import { type MigrationProblem, problemText } from './problem.js'

/**
 * The result of applying the files to an empty copy of the schema.
 * @internal
 */
export type EmptyCopy = KindsOf<typeof EMPTY_COPIES>

/** One text for each result. */
export const EMPTY_COPIES = {
  fails: (v: { problem: MigrationProblem }, command: CommandLine) =>
    `fails on an empty copy of the schema: ${reasonText(v.problem, command)}`,
  breaks: (v: { objects: readonly string[] }) =>
    `leaves ${v.objects.join(', ')} broken, which ${v.objects.length === 1 ? 'reads' : 'read'} what the files drop or rename: drop what reads it in an earlier migration, and create it again without that in a later one`,
  otherEngine: (v: { dialect: string }) =>
    `not applied to an empty copy: the connection string names no ${v.dialect} database`,
  refusedFile: () => 'not applied to an empty copy, because lint rejects a file',
  /** The scratch database could not be created or reached. */
  noDatabase: (v: { problem: MigrationProblem }, command: CommandLine) =>
    `not applied to an empty copy: ${problemText(v.problem, command)}`,
} satisfies Messages

/**
 * Returns a result as `migrate lint` prints it.
 * @internal
 * @param command - formats an `ashlar` command in the text.
 */
export const emptyCopyText = (found: EmptyCopy, command: CommandLine = commandLine): string =>
  writtenBy(EMPTY_COPIES, found, command)

/** Returns the reason for a finding, whose message already contains the file and line. */
function reasonText(problem: MigrationProblem, command: CommandLine): string {
  if (problem.kind !== 'statementFailed') return problemText(problem, command)
  const { message, sqlState, advice } = problem
  const said = sqlState === '' ? message : `${message} (${sqlState})`
  return advice === undefined ? said : `${said}. ${adviceText(advice, command)}`
}
