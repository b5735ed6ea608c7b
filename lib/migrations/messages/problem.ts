import { DeclarationError, MigrationError, type MigrationStop } from '../../errors.js'
import { commandLine, type CommandLine } from '../../text/command-line.js'
import { FILE_PROBLEMS, type FileProblem } from './file-problems.js'
import { writtenBy } from './messages.js'
import { type Stop, STOPS } from './stops.js'

/** Why a call of a migrator fails: a kind, and its values. */
export type MigrationProblem = Stop | FileProblem

const PROBLEMS = { ...STOPS, ...FILE_PROBLEMS }

/**
 * The sentence of a problem. @param command - how its commands are written; default: without the flags of any
 * run.
 */
export const problemText = (problem: MigrationProblem, command: CommandLine = commandLine): string =>
  writtenBy(PROBLEMS, problem, command)

/** A run that stops because of the server, or of what is in the database. */
export function stopped(stop: MigrationStop, problem: Stop): MigrationError {
  const { version, sqlState } = problem as { readonly version?: string; readonly sqlState?: string }
  return new MigrationError(stop, problemText(problem), version, sqlState, problem)
}

/** The same stop, with more to say about it. */
export const stoppedAgain = (
  { stop, version, sqlState }: MigrationError,
  problem: Extract<Stop, { readonly cause: object }>,
): MigrationError => new MigrationError(stop, problemText(problem), version, sqlState, problem)

/** All problems of files or options in one error. */
export const declarationError = (subject: string, problems: readonly FileProblem[]): DeclarationError =>
  new DeclarationError(
    subject,
    problems.map((problem) => ({ ...problem, text: problemText(problem) })),
  )

/** An error of another class that has its problem. */
export const refused = <E extends Error>(Class: new (message: string) => E, problem: MigrationProblem): E =>
  Object.assign(new Class(`migrations: ${problemText(problem)}`), { problem })

/** The problems of an error of a migrator; undefined for any other error. */
export function problemsOf(error: unknown): readonly MigrationProblem[] | undefined {
  const { problem, values } = (error ?? {}) as {
    readonly problem?: MigrationProblem
    readonly values?: readonly MigrationProblem[]
  }
  const found = problem === undefined ? values : [problem]
  return found?.every(({ kind }) => kind in PROBLEMS) === true && found.length > 0 ? found : undefined
}
