import { MigrationError } from '../../errors.js'
import { adviceFor } from './advice.js'
import type { ResolvedOptions } from './options.js'
import type { Session } from './session.js'
import { SessionError } from './session-error.js'
import { type Statement, summaryOf } from '../sql/statements.js'

/** One direction of one version, as it runs. */
export interface Step {
  readonly session: Session
  readonly options: ResolvedOptions
  readonly version: number
  /** `0002_widgets`. */
  readonly name: string
  readonly direction: 'up' | 'down'
  /** The file's text and its statements. */
  readonly sql: string
  readonly statements: readonly Statement[]
  /** Its only statement is repeated until it writes no row. */
  readonly isBackfill: boolean
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
  await session.run(statement.text, timeoutMs, step.options.signal)
  step.options.report({ ...event, step: 'ended' })
}

/** What an unfinished file left behind, and how its author continues. */
export interface Remains {
  readonly stays: string
  readonly correct: string
}

/** What failed and where, what the file left behind, and what to do. `at` is undefined for the COMMIT. */
export function failureOf(
  step: Step,
  at: number | undefined,
  error: unknown,
  { stays, correct }: Remains,
): MigrationError {
  if (error instanceof MigrationError) return error
  const { name, direction, statements, options } = step
  const { message, code, failure } = error instanceof SessionError ? error : foreign(error)
  const line = at === undefined ? undefined : statements[at]?.line
  const place =
    line === undefined ? 'at its COMMIT' : `statement ${(at ?? 0) + 1} of ${statements.length} (line ${line})`
  // It is unknown whether a COMMIT was done. The same holds for a statement that the server commits by itself.
  const isUnknown = failure === 'connection' && (at === undefined || !options.engine.hasTransactionalDdl)
  const said = [
    `${name}.${direction}.sql, ${place}: ${message}${code === '' ? '' : ` (${code})`}`,
    adviceFor(failure, code, options),
    `${isUnknown ? 'The next run finds out how far it came' : stays}: ${failure === 'failed' ? correct : 'run again'}`,
  ]
  const stop = failure === 'connection' || failure === 'cancelled' ? failure : 'failed'
  return new MigrationError(stop, said.filter((part) => part !== '').join('. '), name, code)
}

/** Not from the server: a function of the caller threw. */
const foreign = (error: unknown) =>
  ({ message: error instanceof Error ? error.message : String(error), code: '', failure: 'failed' }) as const
