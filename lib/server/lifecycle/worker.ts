import type { ObservedWorker } from '../observability/observed-worker.js'

/** A relay or a consumer of `ashlar/events` that runs in the process beside the calls. */
export interface Worker extends ObservedWorker {
  /**
   * Called before the server listens. Returns the problems that prevent startup. @param workers - all workers
   * of the server.
   */
  startUpCheck?(workers: readonly Worker[]): Promise<readonly string[]>
  /** Called when the server serves. */
  start(): void
  /** Called when the server shuts down: ends what is being worked on. */
  drain(): Promise<void>
}
