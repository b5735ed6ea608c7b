import { MigrationError } from '../errors.js'
import { adviceFor } from './session/advice.js'
import type { ResolvedOptions } from './session/options.js'
import type { Session } from './session/session.js'
import { SessionError } from './session/session-error.js'

/**
 * Runs `work` on its own connection, and closes it afterwards. A session that makes changes refuses a transaction
 * pooler.
 * @throws {MigrationError} for anything the server refuses, with what to do.
 */
export async function withSession<T>(
  options: ResolvedOptions,
  purpose: 'change' | 'read',
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await options.engine.open(options, purpose)
  try {
    return await work(session)
  } catch (error) {
    throw error instanceof SessionError ? stoppedBy(error, options, purpose) : error
  } finally {
    await session.close()
  }
}

/** For the framework's own statements. Errors of files are reported with their position. */
function stoppedBy(
  error: SessionError,
  options: ResolvedOptions,
  purpose: 'change' | 'read',
): MigrationError {
  const { message, code, failure } = error
  const said = code === '' ? message : `${message} (${code})`
  const advice = adviceFor(failure, code, options, purpose)
  const isRefused = failure === 'denied' || failure === 'readOnly'
  // MySQL may have done a statement whose row can no longer be written.
  const isUndone = isRefused && purpose === 'change' && options.engine.hasTransactionalDdl
  const nothing = isUndone ? '. Nothing has taken effect but what this run has reported as done' : ''
  const todo =
    failure === 'failed' ? advice || 'Put that right and run again' : `${advice}${nothing}. Then run again`
  return new MigrationError(failure, `${said}. ${todo}`, undefined, code)
}
