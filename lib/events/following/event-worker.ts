import type { OutboxListener } from '../log/listen.js'
import type { Follower, WorkerStatus } from './follower.js'
import { claimName, introduce, nameProblems, releaseName, type WorkerIdentity } from './worker-names.js'

/** A relay or consumer that runs in a process alongside its calls. */
export interface EventWorker {
  /**
   * Returns the problems that prevent startup, such as a package that is not installed. A server and the Nest
   * module call it before they start the worker.
   * @param workers - the workers that start together with this one.
   */
  startUpCheck(workers?: readonly object[]): Promise<readonly string[]>
  /**
   * Starts the worker. Failures are reported and retried.
   *
   * @throws TypeError if another worker of this name already runs on the same database in this process, or
   *   if its subject never matches.
   */
  start(): void
  /** Finishes the events in progress and lets another process take over. */
  drain(): Promise<void>
  /** Returns the worker's progress, with true if this process is the leader. */
  status(): Promise<WorkerStatus>
}

/** The destination or source of a worker, if it is not an outbox. */
export interface Destination {
  startUpCheck?(): Promise<readonly string[]>
  close(): Promise<void>
}

interface WorkerParts {
  /** The other end, which is checked at startup and closed last. */
  readonly other?: Destination | undefined
  /** Returns the problems with the worker's own options that this process can detect at startup. */
  readonly problems?: () => readonly string[]
}

/** Returns a worker whose follower is woken by a listener. */
export const workerOf = (
  identity: WorkerIdentity,
  follower: Follower,
  listener: OutboxListener,
  { other, problems = () => [] }: WorkerParts,
): EventWorker => {
  const found = (workers?: readonly object[]) => [...nameProblems(identity, workers), ...problems()]
  const reported = (all: readonly string[]) => all.map((problem) => `${follower.name}: ${problem}`)
  let isEnded = false
  const worker: EventWorker = {
    startUpCheck: async (workers) =>
      reported([...found(workers), ...((await other?.startUpCheck?.()) ?? [])]),
    start: () => {
      if (isEnded) return
      const wrong = reported(found())
      if (wrong.length > 0) throw new TypeError(wrong.join('; '))
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
