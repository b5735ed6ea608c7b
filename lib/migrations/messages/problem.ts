import { DeclarationError, MigrationError, type MigrationStop } from '../../errors.js'
import { commandLine, type CommandLine } from '../../text/command-line.js'
import { FILE_PROBLEMS, type FileProblem } from './file-problems.js'
import { writtenBy } from './messages.js'
import { type Stop, STOPS } from './stops.js'

/** The reason why a migrator's call fails: a kind and its values. */
export type MigrationProblem = Stop | FileProblem

const PROBLEMS = { ...STOPS, ...FILE_PROBLEMS }

/**
 * Returns a problem as a sentence.
 * @internal
 * @param command - formats an `ashlar` command in the sentence. Default: without the flags of a run.
 */
export const problemText = (problem: MigrationProblem, command: CommandLine = commandLine): string =>
  writtenBy(PROBLEMS, problem, command)

/** Returns the error of a run that stops because of the server or of the database's contents. */
export function stopped(stop: MigrationStop, problem: Stop): MigrationError {
  const { version, sqlState } = problem as { readonly version?: string; readonly sqlState?: string }
  return new MigrationError(stop, problemText(problem), version, sqlState, problem)
}

/** Returns the stop with a more detailed problem. */
export const stoppedAgain = (
  { stop, version, sqlState }: MigrationError,
  problem: Extract<Stop, { readonly cause: object }>,
): MigrationError => new MigrationError(stop, problemText(problem), version, sqlState, problem)

/** Returns all problems with files or options as one error. */
export const declarationError = (subject: string, problems: readonly FileProblem[]): DeclarationError =>
  new DeclarationError(
    subject,
    problems.map((problem) => ({ ...problem, text: problemText(problem) })),
  )

/** Returns an error of another class that carries the problem. */
export const refused = <E extends Error>(Class: new (message: string) => E, problem: MigrationProblem): E =>
  Object.assign(new Class(`migrations: ${problemText(problem)}`), { problem })

/** Returns the problems that a migrator's error contains, or undefined for other errors. */
export function problemsOf(error: unknown): readonly MigrationProblem[] | undefined {
  const { problem, values } = (error ?? {}) as {
    readonly problem?: MigrationProblem
    readonly values?: readonly MigrationProblem[]
  }
  const found = problem === undefined ? values : [problem]
  return found?.every(({ kind }) => kind in PROBLEMS) === true && found.length > 0 ? found : undefined
}
