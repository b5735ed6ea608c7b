import { MigrationError } from '../../errors.js'
import { adviceFor, wasCancelled } from './advice.js'
import type { AppliedVersion } from './version-table.js'
import { isOfFramework } from '../files/migration-files.js'
import type { RowBackfill } from '../files/row-backfill.js'
import type { ResolvedOptions } from './options.js'
import type { Session } from './session.js'
import { SessionError } from './session-error.js'
import type { Backfill } from '../sql/backfill.js'
import { isWord } from '../sql/cursor.js'
import { type Broken, findingRows } from '../sql/breaking-rows.js'
import { type Statement, summaryOf } from '../sql/statements.js'

/** One direction of one version, as it runs. */
export interface Step {
  readonly session: Session
  readonly options: ResolvedOptions
  readonly version: number
  /** `0002_widgets`. */
  readonly name: string
  readonly direction: 'up' | 'down'
  /** `0002_widgets.up.sql`. */
  readonly file: string
  /** The file's text and its statements. */
  readonly sql: string
  readonly statements: readonly Statement[]
  /** Undefined for a step that is no backfill. */
  readonly backfill: Backfill | undefined
  /** Computes the values of the rows of a backfill, in place of its statement. */
  readonly fill: RowBackfill | undefined
}

/** @throws {MigrationError} where the run was cancelled, or its session is not its own any more. */
export async function beforeStep(
  session: Session,
  { signal }: ResolvedOptions,
  direction: 'up' | 'down',
  { name, version }: Pick<AppliedVersion, 'name' | 'version'>,
): Promise<void> {
  if (signal?.aborted === true)
    throw new MigrationError('cancelled', `cancelled before ${name}: what stands before it is done`, name)
  await session.guard()
  session.announce({ direction, version })
}

/**
 * Sends one statement of the step, within `timeoutMs` and until the caller cancels.
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
    (ms, text) => step.options.report({ kind: 'running', version, number: at + 1, ms, text }),
  )
  step.options.report({ ...event, step: 'ended' })
}

const BETWEEN_REPORTS_MS = 2_000
const SHORTEST_LOOK_MS = 100

/**
 * Waits for a statement, and asks the server meanwhile what it does: often enough to learn who holds a lock before the lock
 * timeout is over.
 * @param report - called every two seconds.
 * @throws {SessionError} that names who held the lock, after a lock timeout.
 */
export async function watched<T>(
  { session, options }: Step,
  work: () => Promise<T>,
  report: (ms: number, text: string | undefined) => void = () => undefined,
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
    report(ms, seen?.blockers === undefined ? seen?.phase : `waits for ${seen.blockers}`)
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

/** How the run of a dirty version ended. */
export function endOf({ error }: Pick<AppliedVersion, 'error'>): string {
  if (error === undefined) return 'its last run ended without a report'
  return wasCancelled(error) ? 'it was cancelled' : 'it failed'
}

/** What an unfinished file left behind, and how its author continues. */
export interface Remains {
  readonly stays: string
  /** What is to be corrected before it is run again. */
  readonly correct: string
  /** What happens when it is run again, where that has to be said. */
  readonly next?: string
  /** Whether the timeout for statements that build something beside others applied to it. */
  readonly isConcurrent?: boolean
}

/** Of a file whose statements are all undone, or of which none was done. */
export const NOTHING_DONE: Remains = {
  stays: 'No statement of the file has taken effect',
  correct: 'correct it',
}

const APPLIED_ELSEWHERE =
  '. Where another database has applied the file as it was and needs no change, ashlar migrate repair accepts the correction there'

const AGAIN = 'run again'

/** What to do about a file with a mistake. */
export const correction = ({ correct, next }: Remains, again = AGAIN): string =>
  `${correct} and ${again}${next === undefined ? '' : `: ${next}`}`

/** What failed and where, what the file left behind, and what to do. `at` is undefined for the COMMIT. */
export function failureOf(
  step: Step,
  at: number | undefined,
  error: unknown,
  remains: Remains,
): MigrationError {
  if (error instanceof MigrationError) return error
  const { version, name, file, options } = step
  const { stays, isConcurrent } = remains
  const { message, code, failure, blockers } = error instanceof SessionError ? error : foreign(error)
  // Its files are in the package, where nobody reads or corrects them.
  const isOurs = isOfFramework(version)
  const isFine = failure !== 'failed' || options.engine.failures.stopped.includes(code)
  const isThere = step.direction === 'up' && options.engine.failures.duplicates.includes(code)
  const orResolve = isThere
    ? `; or, where all that the file makes is there already, ashlar migrate resolve --applied ${version} records it without running it`
    : ''
  const broken = options.engine.failures.rows[code]
  const again = step.direction === 'down' ? 'run ashlar migrate down again' : AGAIN
  const todo = isFine
    ? again
    : broken !== undefined
      ? rowsBreak(step, at, broken, again, remains.next)
      : isOurs
        ? `put that right and ${again}`
        : correction(remains, again) + orResolve + (step.direction === 'up' ? APPLIED_ELSEWHERE : '')
  const isRows = !isFine && broken !== undefined
  // The file is right, and the advice says when to run it again.
  const isBlocked = options.engine.failures.lockTimeouts.includes(code)
  // It is unknown whether a COMMIT was done. The same holds for a statement that the server commits by itself.
  const isUnknown = failure === 'connection' && (at === undefined || !options.engine.hasTransactionalDdl)
  const said = [
    `${file}${isOurs ? ' (of the framework)' : ''}, ${placeOf(step, at)}: ${message}${code === '' ? '' : ` (${code})`}`,
    adviceFor(failure, code, options, 'change', blockers, isConcurrent),
    options.isScratch === true
      ? ''
      : `${isUnknown ? 'The next run finds out how far it came' : stays}${isBlocked ? '; the file needs no correction' : `${isRows ? '; ' : ': '}${todo}`}`,
  ]
  const stop = failure === 'connection' || failure === 'cancelled' ? failure : 'failed'
  return new MigrationError(stop, said.filter((part) => part !== '').join('. '), name, code)
}

/** The rows that are there break a change of a table. What a statement writes itself may be wrong in the file, too. */
function rowsBreak(
  { statements, options }: Step,
  at: number | undefined,
  broken: Broken,
  again: string,
  next: string | undefined,
): string {
  const statement = at === undefined ? undefined : statements[at]
  const isChange = ['ALTER', 'CREATE', 'REINDEX'].some((verb) => isWord(statement?.tokens[0], verb))
  if (statement === undefined || !isChange)
    return `rows break it: correct them, or what the file writes, and ${again}${next === undefined ? '' : `: ${next}`}`
  const { schema } = options
  const prefix = ['', 'public'].includes(schema) ? '' : `"${schema.replaceAll('"', '""')}".`
  const query = findingRows(statement, statements.slice(0, at), broken, prefix)
  const find = query === undefined ? '' : `. This finds them: ${query}`
  return `rows break it: correct them (the file needs no change) and ${again}${find}`
}

function placeOf({ version, statements }: Step, at: number | undefined): string {
  const statement = at === undefined ? undefined : statements[at]
  if (statement === undefined) return 'at its COMMIT'
  const line = isOfFramework(version) ? '' : ` (line ${statement.line})`
  return `statement ${(at ?? 0) + 1} of ${statements.length}${line}`
}

/** Not from the server: a function of the caller threw. */
const foreign = (error: unknown) =>
  ({
    message: error instanceof Error ? error.message : String(error),
    code: '',
    failure: 'failed',
    blockers: undefined,
  }) as const
