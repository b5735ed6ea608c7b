import { MigrationError } from '../../errors.js'
import { adviceFor } from './advice.js'
import { isOfFramework } from '../files/migration-files.js'
import type { RowBackfill } from '../files/row-backfill.js'
import type { ResolvedOptions } from './options.js'
import type { Session } from './session.js'
import { SessionError } from './session-error.js'
import type { Backfill } from '../sql/backfill.js'
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
  const stopWatching = watch(step, event)
  try {
    await session.run(statement.text, timeoutMs, step.options.signal)
  } finally {
    stopWatching()
  }
  step.options.report({ ...event, step: 'ended' })
}

const BETWEEN_LOOKS_MS = 2_000

/** Reports every two seconds that a statement still runs, and what the server says of it. Returns what ends that. */
function watch(
  { session, options }: Step,
  event: { readonly version: string; readonly number: number },
): () => void {
  const started = performance.now()
  let isOver = false
  let isLooking = false
  const look = async () => {
    if (isLooking) return
    isLooking = true
    const text = await session.activity().catch(() => undefined)
    isLooking = false
    const ms = Math.round(performance.now() - started)
    if (!isOver) options.report({ kind: 'running', version: event.version, number: event.number, ms, text })
  }
  const timer = setInterval(() => void look(), BETWEEN_LOOKS_MS)
  return () => {
    isOver = true
    clearInterval(timer)
  }
}

/** What an unfinished file left behind, and how its author continues. */
export interface Remains {
  readonly stays: string
  readonly correct: string
}

/** Of a file whose statements are all undone, or of which none was done. */
export const NOTHING_DONE: Remains = {
  stays: 'No statement of the file has taken effect',
  correct: 'correct it and run again',
}

/** What failed and where, what the file left behind, and what to do. `at` is undefined for the COMMIT. */
export function failureOf(
  step: Step,
  at: number | undefined,
  error: unknown,
  { stays, correct }: Remains,
): MigrationError {
  if (error instanceof MigrationError) return error
  const { version, name, file, options } = step
  const { message, code, failure } = error instanceof SessionError ? error : foreign(error)
  // Its files are in the package, where nobody reads or corrects them.
  const isOurs = isOfFramework(version)
  const todo = failure !== 'failed' ? 'run again' : isOurs ? 'put that right and run again' : correct
  // It is unknown whether a COMMIT was done. The same holds for a statement that the server commits by itself.
  const isUnknown = failure === 'connection' && (at === undefined || !options.engine.hasTransactionalDdl)
  const said = [
    `${file}${isOurs ? ' (of the framework)' : ''}, ${placeOf(step, at)}: ${message}${code === '' ? '' : ` (${code})`}`,
    adviceFor(failure, code, options),
    `${isUnknown ? 'The next run finds out how far it came' : stays}: ${todo}`,
  ]
  const stop = failure === 'connection' || failure === 'cancelled' ? failure : 'failed'
  return new MigrationError(stop, said.filter((part) => part !== '').join('. '), name, code)
}

function placeOf({ version, statements }: Step, at: number | undefined): string {
  const statement = at === undefined ? undefined : statements[at]
  if (statement === undefined) return 'at its COMMIT'
  const line = isOfFramework(version) ? '' : ` (line ${statement.line})`
  return `statement ${(at ?? 0) + 1} of ${statements.length}${line}`
}

/** Not from the server: a function of the caller threw. */
const foreign = (error: unknown) =>
  ({ message: error instanceof Error ? error.message : String(error), code: '', failure: 'failed' }) as const
