import { MigrationError } from '../../errors.js'
import { type MigrationProblem, problemText, stopped } from '../messages/problem.js'
import type { RunEnd } from '../messages/recoveries.js'
import type { Remains } from '../messages/remains.js'
import type { StatementFailed } from '../messages/statement-failed.js'
import { adviceFor } from './advice.js'
import { type AppliedVersion, withMarks } from './version-table.js'
import { isOfFramework } from '../files/migration-files.js'
import type { RowBackfill } from '../files/row-backfill.js'
import type { ResolvedOptions } from './migrate-options.js'
import type { Progress } from './progress.js'
import type { Session } from './session.js'
import { SessionError } from './session-error.js'
import type { Backfill } from '../sql/backfill.js'
import { isWord } from '../sql/cursor.js'
import { type Broken, findingRows } from '../sql/breaking-rows.js'
import { type Statement, summaryOf } from '../sql/split-statements.js'

/** One direction of a version while it runs. */
export interface Step {
  readonly session: Session
  readonly options: ResolvedOptions
  readonly version: number
  /** The version's name, such as `0002_widgets`. */
  readonly name: string
  readonly direction: 'up' | 'down'
  /** The file's name, such as `0002_widgets.up.sql`. */
  readonly file: string
  /** The file's text and statements. */
  readonly sql: string
  readonly statements: readonly Statement[]
  /** The backfill's settings. Undefined if the step is not a backfill. */
  readonly backfill: Backfill | undefined
  /** The function that computes the rows' values in a backfill without a statement. */
  readonly fill: RowBackfill | undefined
}

/**
 * Checks the session before a step, and announces the step.
 *
 * @throws {MigrationError} if the run was cancelled, or its session was lost.
 */
export async function beforeStep(
  session: Session,
  { signal }: ResolvedOptions,
  direction: 'up' | 'down',
  { name, version }: Pick<AppliedVersion, 'name' | 'version'>,
): Promise<void> {
  if (signal?.aborted === true) throw stopped('cancelled', { kind: 'cancelledBefore', version: name })
  await session.guard()
  session.announce({ direction, version })
}

/**
 * Sends one of the step's statements, limited by `timeoutMs` and the caller's signal.
 * @throws {SessionError}
 */
export async function send(step: Step, at: number, timeoutMs: number): Promise<void> {
  const statement = step.statements[at]
  if (statement === undefined) return
  const { name: version, statements, session } = step
  const event = {
    kind: 'statement',
    version,
    number: at + 1,
    of: statements.length,
    summary: summaryOf(statement),
  } as const
  step.options.report({ ...event, step: 'started' })
  await watched(
    step,
    () => session.run(statement.text, timeoutMs, step.options.signal),
    (ms, doing) => step.options.report({ kind: 'running', version, number: at + 1, ms, ...doing }),
  )
  step.options.report({ ...event, step: 'ended' })
}

/** The server's report of a running statement. */
type Doing = Pick<Extract<Progress, { readonly kind: 'running' }>, 'phase' | 'waitsFor'>

const BETWEEN_REPORTS_MS = 2_000
const SHORTEST_LOOK_MS = 100

/**
 * Waits for a statement, and meanwhile queries its state from the server, often enough to determine the
 * holder of a lock before the lock timeout.
 *
 * @param report - called every two seconds.
 * @throws {SessionError} with the holder of the lock, after a lock timeout.
 */
export async function watched<T>(
  { session, options }: Step,
  work: () => Promise<T>,
  report: (ms: number, doing: Doing) => void = () => undefined,
): Promise<T> {
  const started = performance.now()
  let isOver = false
  let reportedMs = 0
  let blockers: string | undefined
  let looking: Promise<void> | undefined
  const look = async () => {
    const seen = await session.activity().catch(() => undefined)
    blockers = seen?.blockers ?? blockers
    looking = undefined
    const ms = Math.round(performance.now() - started)
    if (isOver || ms - reportedMs < BETWEEN_REPORTS_MS) return
    reportedMs = ms
    report(ms, { phase: seen?.phase, waitsFor: seen?.blockers })
  }
  const every = Math.min(BETWEEN_REPORTS_MS, Math.max(SHORTEST_LOOK_MS, options.lockTimeoutMs / 2))
  const timer = setInterval(() => {
    looking ??= look()
  }, every)
  try {
    return await work()
  } catch (error) {
    const { lockTimeouts } = options.engine.failures
    if (!(error instanceof SessionError) || !lockTimeouts.includes(error.code)) throw error
    await looking
    blockers ??= (await session.activity(true).catch(() => undefined))?.blockers
    throw new SessionError(error.message, error.code, error.failure, blockers)
  } finally {
    isOver = true
    clearInterval(timer)
  }
}

/** Returns how a dirty version's run ended. */
export function endOf({ error, marks }: Pick<AppliedVersion, 'error' | 'marks'>): RunEnd {
  if (error === undefined) return 'unreported'
  return marks?.isCancelled === true ? 'cancelled' : 'failed'
}

/**
 * Returns the error of a failed statement: its position, what the file left behind, and the remedy.
 *
 * @param at - the index of the statement. Undefined for the COMMIT.
 */
export function failureOf(
  step: Step,
  at: number | undefined,
  error: unknown,
  remains: Remains,
): MigrationError {
  if (error instanceof MigrationError) return error
  const { version, name, file, options, direction } = step
  const { failures, hasTransactionalDdl } = options.engine
  const { message, code, failure, blockers } = error instanceof SessionError ? error : foreign(error)
  // Ashlar's own files are part of the package and cannot be corrected.
  const isFramework = isOfFramework(version)
  const isFine = failure !== 'failed' || failures.stopped.includes(code)
  const broken = failures.rows[code]
  const cause = isFramework ? 'cause' : 'file'
  return stopped(failure === 'connection' || failure === 'cancelled' ? failure : 'failed', {
    kind: 'statementFailed',
    version: name,
    file,
    isFramework,
    direction,
    place: placeOf(step, at),
    message,
    sqlState: code,
    advice: adviceFor(failure, code, options, 'change', blockers, remains.kind === 'index', message),
    remains: options.isScratch === true ? undefined : remains,
    // It is unknown if a COMMIT took effect. For a statement that the server commits implicitly it is also
    // unknown.
    isUnknown: failure === 'connection' && (at === undefined || !hasTransactionalDdl),
    mend: isFine ? 'nothing' : broken === undefined ? cause : 'rows',
    // The file is correct, and the advice states when to run it again.
    isBlocked: failures.lockTimeouts.includes(code),
    isThere: direction === 'up' && failures.duplicates.includes(code),
    ...(broken !== undefined && { rows: breakingRows(step, at, broken) }),
  })
}

/** Returns the error to store with a failed version. It omits the remedy, which the next command prints. */
export function storedText({ problem, stop }: MigrationError): string {
  const { remains } = problem as { readonly remains?: Remains }
  const text = problemText(
    (problem.kind === 'statementFailed' ? { ...problem, mend: undefined } : problem) as MigrationProblem,
  )
  return withMarks(text, { isCancelled: stop === 'cancelled', mayBeDone: remains?.kind === 'mayBeDone' })
}

/**
 * Returns the existing rows that violate a table change. If the statement itself writes the rows, the file
 * may be wrong instead.
 */
function breakingRows(
  { statements, options }: Step,
  at: number | undefined,
  broken: Broken,
): NonNullable<StatementFailed['rows']> {
  const statement = at === undefined ? undefined : statements[at]
  const isChange = ['ALTER', 'CREATE', 'REINDEX'].some((verb) => isWord(statement?.tokens[0], verb))
  if (statement === undefined || !isChange) return { mayBeFile: true }
  const { schema } = options
  const prefix = ['', 'public'].includes(schema) ? '' : `"${schema.replaceAll('"', '""')}".`
  const find = findingRows(statement, statements.slice(0, at), broken, prefix)
  return find === undefined ? {} : { find }
}

function placeOf({ statements }: Step, at = -1): StatementFailed['place'] {
  const statement = statements[at]
  return statement && { statement: at + 1, of: statements.length, line: statement.line }
}

/** Returns the fields of an error that the caller's own function threw, and not the database server. */
const foreign = (error: unknown) =>
  ({
    message: error instanceof Error ? error.message : String(error),
    code: '',
    failure: 'failed',
    blockers: undefined,
  }) as const
