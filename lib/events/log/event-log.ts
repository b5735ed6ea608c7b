/** An event of a log. */
export interface LoggedEvent {
  /** The event's position in the log. */
  readonly position: number
  /** The event's unique `id`. */
  readonly id: string
  /** The tenant. Empty for an event of all tenants. */
  readonly tenant: string
  /** The resource type, such as `order`. */
  readonly resource: string
  /** The event's verb, such as `paid`. */
  readonly verb: string
  /** The resource's key. */
  readonly key: string
  /** The complete event as CloudEvents 1.0 in structured JSON. */
  readonly payload: Buffer
  /**
   * The event's number among those of its tenant, starting at 1 and without gaps. 0 if `tenant_event_policy`
   * does not enable numbering.
   */
  readonly seq: number
  /** The `event_epoch` of `tenant_event_policy` at the time of numbering. */
  readonly epoch: number
  /** The time when the log received the event, for an event without a time. */
  readonly loggedAt?: Date
}

/** Events in an order that never changes. New events only appear at the end. */
export interface EventLog {
  /**
   * Reads the events after a position, and waits for more until the signal aborts.
   *
   * @throws the error of a failed read. The reader then starts again.
   */
  read(after: number, signal: AbortSignal): AsyncIterable<LoggedEvent>
  /** Returns at most the number of readable events after a position. */
  behind(position: number): Promise<number>
}

/** The first and last positions of a log. */
export interface LogEnds {
  /** The position of the first remaining event. Undefined if all were removed. */
  readonly first: number | undefined
  /** The position of the last event, even if it was removed. */
  readonly last: number
}

/**
 * Returns the number of remaining events after a position. Positions have no gaps, and the oldest events are
 * removed first.
 */
export const eventsBehind = ({ first, last }: LogEnds, position: number): number =>
  first === undefined ? 0 : Math.max(0, last - Math.max(position, first - 1))
