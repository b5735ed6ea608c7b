import { VERSION_TABLE } from '../files/framework-tables.js'
import type { ResolvedOptions } from './migrate-options.js'
import type { SessionFailure } from './engine-failures.js'
import type { Advice } from '../messages/advices.js'

/** Returns the remedy for a failed statement, or undefined if it depends on the file. */
export function adviceFor(
  failure: SessionFailure,
  code: string,
  options: ResolvedOptions,
  purpose: 'read' | 'change' = 'change',
  blockers?: string,
  isConcurrent = false,
  message = '',
): Advice | undefined {
  const { lockTimeoutMs, statementTimeoutMs, concurrentTimeoutMs } = options
  const { failures } = options.engine
  const { server } = failures
  if (failure === 'denied')
    return { kind: 'lacksRight', server, purpose, schema: options.schema, table: VERSION_TABLE }
  if (failure === 'readOnly') return { kind: 'readOnly', server }
  if (failure === 'connection') return { kind: 'connectionLost' }
  // A statement that was not sent has no error code of the server.
  if (failure === 'cancelled') return { kind: code === '' ? 'notSent' : 'cancelled' }
  if (failures.lockTimeouts.includes(code)) return { kind: 'lockTimeout', ms: lockTimeoutMs, blockers }
  if (failures.stopped.includes(code))
    return isConcurrent
      ? { kind: 'concurrentTimeout', ms: concurrentTimeoutMs }
      : { kind: 'statementTimeout', ms: statementTimeoutMs }
  return failures.hint(code, options.schema, message)
}
