import type { LoggedEvent } from '../log/event-log.js'

/** The destination of a relay. */
export interface Sink {
  /**
   * Called before the relay starts. Returns the problems that prevent startup, such as a package that is not
   * installed.
   */
  startUpCheck?(): Promise<readonly string[]>
  /**
   * Resolves when the destination has stored the event. Events of one resource are delivered one after
   * another, others at the same time. An event can be delivered again with the same `id`.
   * @throws Unavailable while the destination cannot be reached: the event is retried until it can. Any other
   * error counts as a failure of this event, which becomes a dead letter after some attempts.
   */
  deliver(event: LoggedEvent): Promise<void>
  /** Gives its connections back. Called once, behind the last delivery. */
  close(): Promise<void>
}
