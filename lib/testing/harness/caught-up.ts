import { setTimeout as pause } from 'node:timers/promises'
import { DeadlineExceeded } from '../../errors.js'
import type { EventWorker } from '../../events/index.js'

/**
 * Waits until a relay or consumer has processed every committed event. A dead letter counts as processed.
 * @param withinMs - the timeout in milliseconds. Default: 5,000.
 * @throws DeadlineExceeded after the timeout.
 * @example
 * ```ts
 * import { consumer } from 'ashlar/events'
 * import { MemoryDatabase } from 'ashlar/persistence'
 * import { caughtUp } from 'ashlar/testing'
 *
 * const database = new MemoryDatabase()
 * const mails = consumer({ name: 'mails', dataSource: database }, () => Promise.resolve())
 * mails.start()
 * await caughtUp(mails)
 * await mails.drain()
 * ```
 */
export async function caughtUp(worker: EventWorker, withinMs = 5000): Promise<void> {
  for (const end = performance.now() + withinMs; ;) {
    const { name, lag, isLeading, problem } = await worker.status()
    if (lag === 0) return
    if (performance.now() > end)
      throw new DeadlineExceeded(
        `${name} still has ${lag} unprocessed events after ${withinMs} ms${isLeading ? '' : ', and does not run in this process'}${problem === undefined ? '' : `: ${problem}`}`,
      )
    await pause(10)
  }
}
