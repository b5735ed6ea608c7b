import { MigrationError } from '../errors.js'
import type { ResolvedOptions } from './options.js'
import { describeError, type Session } from './session.js'
import { type Statement, summaryOf } from './sql-statements.js'

/** One way of one version, as it runs. */
export interface Step {
  readonly session: Session
  readonly options: ResolvedOptions
  readonly version: number
  /** `0002_widgets`. */
  readonly name: string
  readonly direction: 'up' | 'down'
  /** The file's text, and the statements it consists of. */
  readonly sql: string
  readonly statements: readonly Statement[]
}

/**
 * Sends one statement of the step, within `timeoutMs`.
 * @throws {unknown} what the driver says.
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
  await session.run(statement.text, timeoutMs)
  step.options.report({ ...event, step: 'ended' })
}

/** What failed and where, what is left of the file, and what to do. `at` is undefined for the COMMIT. */
export function failureOf(
  step: Step,
  at: number | undefined,
  error: unknown,
  remains: string,
): MigrationError {
  if (error instanceof MigrationError) return error
  const { name, direction, statements, options } = step
  const { text, code } = describeError(error, options.url)
  const line = at === undefined ? undefined : statements[at]?.line
  const place =
    line === undefined ? 'at its COMMIT' : `statement ${(at ?? 0) + 1} of ${statements.length} (line ${line})`
  const said = [
    `${name}.${direction}.sql, ${place}: ${text}${code === '' ? '' : ` (${code})`}`,
    adviceFor(code, options),
    remains,
  ]
  return new MigrationError('failed', said.filter((part) => part !== '').join('. '), name, code)
}

function adviceFor(code: string, { lockTimeoutMs, statementTimeoutMs }: ResolvedOptions): string {
  if (code === '55P03' || code === '1205')
    return `Another session held a lock for longer than the lock timeout of ${lockTimeoutMs} ms: run again when it has ended`
  if (code === '57014' || code === '1317' || code === '1969')
    return `It was ended by the statement timeout of ${statementTimeoutMs} ms, or by somebody: raise the timeout for this module, or do it in smaller steps`
  return ''
}
