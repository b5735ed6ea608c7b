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
   * @throws TypeError if another worker of its name already runs on the same database in this process, and
   * for a subject that never matches.
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

interface WorkerParts {
  /** Checked at startup and closed last. */
  readonly other?: Destination | undefined
  /** What is wrong with the worker's own options, as far as this process knows it at startup. */
  readonly problems?: () => readonly string[]
}

/** A follower that a listener wakes up. */
export const workerOf = (
  identity: WorkerIdentity,
  follower: Follower,
  listener: OutboxListener,
  { other, problems = () => [] }: WorkerParts,
): EventWorker => {
  const found = (workers?: readonly object[]) => [...nameProblems(identity, workers), ...problems()]
  const told = (all: readonly string[]) => all.map((problem) => `${follower.name}: ${problem}`)
  let isEnded = false
  const worker: EventWorker = {
    startUpCheck: async (workers) => told([...found(workers), ...((await other?.startUpCheck?.()) ?? [])]),
    start: () => {
      if (isEnded) return
      const wrong = told(found())
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
