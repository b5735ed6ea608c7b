import type { LoggedEvent } from '../log/event-log.js'

/** The destination of a relay. */
export interface Sink {
  /**
   * Returns the problems that prevent startup, such as a package that is not installed. Called before the
   * relay starts.
   */
  startUpCheck?(): Promise<readonly string[]>
  /**
   * Resolves when the destination has stored the event. Events of one resource are delivered one after
   * another, others concurrently. An event may be delivered again with the same `id`.
   *
   * @throws Unavailable while the destination cannot be reached. The event is then retried until it can be.
   *   Any other error is a failure of this event, which becomes a dead letter after some attempts.
   */
  deliver(event: LoggedEvent): Promise<void>
  /** Closes the connections. Called once after the last delivery. */
  close(): Promise<void>
}
