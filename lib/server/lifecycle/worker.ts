import type { ObservedWorker } from '../observability/observed-worker.js'

/** A relay or consumer of `ashlar/events` that runs in the server's process. */
export interface Worker extends ObservedWorker {
  /**
   * Called before the server listens. Returns the problems that prevent startup.
   * @param workers - all workers of the server.
   */
  startUpCheck?(workers: readonly Worker[]): Promise<readonly string[]>
  /** Called when the server starts serving. */
  start(): void
  /** Called when the server shuts down. Ends the current work. */
  drain(): Promise<void>
}
