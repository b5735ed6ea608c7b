import type { ResolvedOptions } from './migrate-options.js'
import type { SessionFailure } from './engine-failures.js'

const CANCELLED = 'The run was cancelled, and the server has stopped the statement'
const NOT_SENT = 'The run was cancelled before it'

/** What to do about a failed statement; empty when it depends on the file. */
export function adviceFor(
  failure: SessionFailure,
  code: string,
  options: ResolvedOptions,
  purpose: 'read' | 'change' = 'change',
  blockers?: string,
  isConcurrent = false,
): string {
  const { lockTimeoutMs, statementTimeoutMs, concurrentTimeoutMs } = options
  const { failures } = options.engine
  if (failure === 'denied')
    return `The user of the connection string lacks a right: ${failures.rights(purpose, options.schema)}`
  if (failure === 'readOnly') return failures.writable
  if (failure === 'connection')
    return 'The connection to the server is lost: somebody ended the session, or the server or the network went away'
  // What was not sent has no code of the server.
  if (failure === 'cancelled') return code === '' ? NOT_SENT : CANCELLED
  if (failures.lockTimeouts.includes(code))
    return `Another session held a lock for longer than the lock timeout of ${lockTimeoutMs} ms: ${blockers === undefined ? 'run' : `${blockers}. Run`} again when it has ended`
  if (failures.stopped.includes(code))
    return isConcurrent
      ? `It was ended by the timeout of ${concurrentTimeoutMs} ms for such statements, or by somebody: raise it with --concurrent-timeout`
      : `It was ended by the statement timeout of ${statementTimeoutMs} ms, or by somebody: raise it with --statement-timeout, or do it in smaller steps`
  return failures.hint(code, options.schema)
}
