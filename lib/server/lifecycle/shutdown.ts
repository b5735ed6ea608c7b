import { Unavailable } from '../../errors.js'
import type { Deadline } from '../chain/deadline.js'

/** The maximum time for all calls to end by themselves, in milliseconds. */
const GRACE_MS = 5_000
/**
 * The end of that time, in which open calls receive a status, so that their callers do not just lose the
 * connection.
 */
const FAREWELL_MS = 500

/** Something that listens. */
export interface Listener {
  /** Stops accepting and resolves when the last call has ended. */
  drain(): Promise<void>
  /** Ends the remaining calls at once. */
  close(): void
}

/**
 * Drains all listeners concurrently. Open calls receive Unavailable shortly before 5 seconds have passed.
 * After 5 seconds, the remaining connections are closed.
 */
export const shutdown = async (
  listeners: readonly Listener[],
  openCalls: readonly Deadline[],
): Promise<void> => {
  const drained = Promise.all(listeners.map((listener) => listener.drain()))
  const timers: NodeJS.Timeout[] = []
  const after = (ms: number) => new Promise<'late'>((resolve) => timers.push(setTimeout(resolve, ms, 'late')))
  const [farewell, end] = [after(GRACE_MS - FAREWELL_MS), after(GRACE_MS)]
  try {
    if ((await Promise.race([drained, farewell])) === 'late') {
      for (const time of [...openCalls]) time.end(new Unavailable('the server is shutting down: try again'))
      await Promise.race([drained, end])
    }
  } finally {
    for (const timer of timers) clearTimeout(timer)
  }
  for (const listener of listeners) listener.close()
}
