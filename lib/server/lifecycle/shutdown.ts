import { Unavailable } from '../../errors.js'
import type { Deadline } from '../chain/deadline.js'

/** How long everything together may take to end by itself. */
const GRACE_MS = 5_000
/** What is left of that for the status of calls that do not, so that their callers read it instead of losing the connection. */
const FAREWELL_MS = 500

/** Something that listens. */
export interface Listener {
  /** Stops accepting and resolves when the last call has ended. */
  drain(): Promise<void>
  /** Ends what is left, at once. */
  close(): void
}

/**
 * Drains all listeners at the same time. Calls that go on get Unavailable shortly before 5 seconds have passed, and what
 * is left then is closed.
 */
export const shutdown = async (
  listeners: readonly Listener[],
  openCalls: ReadonlySet<Deadline>,
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
