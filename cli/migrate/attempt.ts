import type { CommandLine, MigrationProblem, RunFacts, VersionStatus } from '../../lib/migrations/index.js'
import { Failure } from '../errors/failure.js'
import { problemsText } from '../errors/problems-text.js'

/** The context in which a migrator's errors are reported. */
export interface Reporter {
  readonly command: CommandLine
  /** True if the error should state that nothing was changed, when that is the case. */
  readonly mayChange?: boolean
  /** Returns the migrations of the database, even if the files are invalid. */
  readonly versions?: () => Promise<readonly VersionStatus[]>
}

/**
 * Returns the result of `work`, or throws the migrator's error as a `Failure` of the files and flags, or of
 * the database.
 */
export async function attempt<T>(work: () => Promise<T>, reporter: Reporter): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw await failureOf(error, reporter)
  }
}

async function failureOf(error: unknown, reporter: Reporter): Promise<unknown> {
  const { MigrationError, problemsOf, problemText } = await import('../../lib/migrations/index.js')
  const found = problemsOf(error)
  if (found === undefined) return error
  const { command, mayChange = false } = reporter
  const problems = await withApplied(found, reporter)
  const { subject = 'migrations' } = error as { readonly subject?: string }
  const { hasChanged = false, applied, rolledBack } = error as Partial<RunFacts>
  const isOfDatabase = error instanceof MigrationError && error.sqlState !== 'ERR_INVALID_URL'
  const texts = [
    problemsText(
      subject,
      problems.map((problem) => problemText(problem, command)),
    ),
  ]
  if (mayChange && !hasChanged && !problems.some(saysWhatIsDone)) texts.push('Nothing is changed')
  const done = applied === undefined ? {} : { hasChanged, applied, rolledBack }
  return new Failure(isOfDatabase ? 'database' : 'input', texts.join('. '), {
    cause: error,
    facts: { problems, ...done },
  })
}

/**
 * Returns true if no statement about changes is needed: without a connection nothing can have changed, and
 * the error of a rejecting server contains it.
 */
const saysWhatIsDone = (problem: MigrationProblem): boolean =>
  problem.kind === 'noConnection' || (problem.kind === 'serverRefused' && problem.isUndone)

/** Marks the applied files among those with the same number. */
async function withApplied(
  problems: readonly MigrationProblem[],
  { versions }: Reporter,
): Promise<readonly MigrationProblem[]> {
  if (versions === undefined || problems.every(({ kind }) => kind !== 'duplicateNumber')) return problems
  const there = (await versions()).filter(({ state }) => state !== 'pending')
  return problems.map((problem) => {
    if (problem.kind !== 'duplicateNumber') return problem
    const number = Number(problem.versions[0].slice(0, 4))
    const same = there.filter(({ version }) => version === number)
    const behind = there.filter(({ name }) => problem.behind.includes(name))
    const applied = same.length === 0 ? [] : [...same, ...behind].map(({ name }) => name)
    return { ...problem, applied }
  })
}
