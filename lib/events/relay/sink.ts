import type { LoggedEvent } from '../log/event-log.js'

/** Where a relay delivers events. */
export interface Sink {
  /**
   * Called before the relay starts. What it returns are problems that stop the start, such as a package that
   * is not installed.
   */
  startUpCheck?(): Promise<readonly string[]>
  /**
   * Resolves when the event is stored there. Events of one resource come one after another, others at the
   * same time. An event can come again: its `id` tells.
   * @throws Unavailable while the destination cannot be reached: the event is tried again until it can.
   * Anything else counts as a failure of this event, which becomes a dead letter after some attempts.
   */
  deliver(event: LoggedEvent): Promise<void>
  /** Gives its connections back. Called once, behind the last delivery. */
  close(): Promise<void>
}
