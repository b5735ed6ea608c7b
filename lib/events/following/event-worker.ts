import type { OutboxListener } from '../log/listen.js'
import type { Follower, WorkerStatus } from './follower.js'
import { claimName, introduce, nameProblems, releaseName, type WorkerIdentity } from './worker-names.js'

/** What works beside the calls of a process: a relay or a consumer. */
export interface EventWorker {
  /**
   * What stops the start, such as a package that is not installed. A server and the Nest module ask before
   * they start it. @param workers - those that start together with it.
   */
  startUpCheck(workers?: readonly object[]): Promise<readonly string[]>
  /**
   * Begins to work. Failures are reported and tried again.
   * @throws TypeError if another worker of its name already runs on the same database in this process.
   */
  start(): void
  /** Ends what is being worked on, and lets another process take over. */
  drain(): Promise<void>
  /** How far it is, and whether it leads. */
  status(): Promise<WorkerStatus>
}

/** What a worker delivers to or reads from, other than an outbox. */
export interface Destination {
  startUpCheck?(): Promise<readonly string[]>
  close(): Promise<void>
}

/** A follower that a listener wakes up. @param other - what is closed last. */
export const workerOf = (
  identity: WorkerIdentity,
  follower: Follower,
  listener: OutboxListener,
  other: Destination | undefined,
): EventWorker => {
  let isEnded = false
  const worker: EventWorker = {
    startUpCheck: async (workers) =>
      [...nameProblems(identity, workers), ...((await other?.startUpCheck?.()) ?? [])].map(
        (problem) => `${follower.name}: ${problem}`,
      ),
    start: () => {
      if (isEnded) return
      claimName(identity)
      listener.start()
      follower.start()
    },
    drain: async () => {
      isEnded = true
      await follower.drain()
      releaseName(identity)
      await listener.close()
      await other?.close()
    },
    status: () => follower.status(),
  }
  return introduce(worker, identity)
}
