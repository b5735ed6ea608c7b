import { MigrationError } from '../errors.js'
import { adviceFor } from './session/advice.js'
import type { ResolvedOptions } from './session/options.js'
import type { Session } from './session/session.js'
import { SessionError } from './session/session-error.js'

/**
 * Runs `work` on a connection of its own, which is closed afterwards. One that changes things refuses a transaction pooler.
 * @throws {MigrationError} for whatever the server refuses, saying what to do.
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

/** For a statement of the engine's own: those of files are told with their place. */
function stoppedBy(
  error: SessionError,
  options: ResolvedOptions,
  purpose: 'change' | 'read',
): MigrationError {
  const { message, code, failure } = error
  const said = code === '' ? message : `${message} (${code})`
  const advice = adviceFor(failure, code, options, purpose)
  const todo = failure === 'failed' ? advice || 'Put that right and run again' : `${advice}. Then run again`
  return new MigrationError(failure, `${said}. ${todo}`, undefined, code)
}
