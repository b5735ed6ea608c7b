import { setTimeout as pause } from 'node:timers/promises'
import { stopped } from '../messages/problem.js'
import type { ResolvedOptions } from './migrate-options.js'
import type { Session } from './session.js'

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 1_000

/**
 * Runs `work` while no other host migrates the same database. The lock is polled outside transactions. A
 * session that waited in `pg_advisory_lock` would hold a snapshot, and the other host's `CREATE INDEX
 * CONCURRENTLY` would wait for that snapshot.
 *
 * @throws {MigrationError} after `waitTimeoutMs`, with the holder of the lock.
 */
export async function withLock<T>(
  session: Session,
  options: ResolvedOptions,
  work: () => Promise<T>,
): Promise<T> {
  await waitForLock(session, options)
  try {
    return await work()
  } finally {
    await session.unlock().catch(() => undefined)
  }
}

async function waitForLock(
  session: Session,
  { waitTimeoutMs, signal, report }: ResolvedOptions,
): Promise<void> {
  const started = performance.now()
  for (let wait = FIRST_PAUSE_MS; !(await session.tryLock()); wait = Math.min(wait * 2, LONGEST_PAUSE_MS)) {
    const working = await session.lockHolder()
    const holder = working?.holder ?? ''
    const waitedMs = Math.round(performance.now() - started)
    if (waitedMs >= waitTimeoutMs) throw stopped('locked', { kind: 'lockedTooLong', holder, waitedMs })
    if (working !== undefined) report({ kind: 'waiting', holder, session: working.session, waitedMs })
    // The pause is random, so that hosts that started together do not poll simultaneously.
    const pauseMs = Math.min(wait * (0.5 + Math.random() / 2), waitTimeoutMs - waitedMs)
    await pause(pauseMs, undefined, signal && { signal }).catch(() => undefined)
    if (signal?.aborted === true) throw stopped('cancelled', { kind: 'cancelledWaiting', holder })
  }
}
