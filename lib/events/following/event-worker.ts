import type { OutboxListener } from '../log/listen.js'
import type { Follower, WorkerStatus } from './follower.js'

/** What works beside the calls of a process: a relay or a consumer. */
export interface EventWorker {
  /** Begins to work. Failures are reported and tried again. */
  start(): void
  /** Ends what is being worked on, and lets another process take over. */
  drain(): Promise<void>
  /** How far it is, and whether it leads. */
  status(): Promise<WorkerStatus>
}

/** A follower that a listener wakes up. @param close - what is closed last. */
export const workerOf = (
  follower: Follower,
  listener: OutboxListener,
  close: () => Promise<void> | undefined,
): EventWorker => ({
  start: () => {
    listener.start()
    follower.start()
  },
  drain: async () => {
    await follower.drain()
    await listener.close()
    await close()
  },
  status: () => follower.status(),
})
