/** An event of a log. */
export interface LoggedEvent {
  /** The event's position in the log. */
  readonly position: number
  /** Unique: the `id` of the event. */
  readonly id: string
  /** `''` for an event of all tenants. */
  readonly tenant: string
  /** The type of the resource: `order`. */
  readonly resource: string
  /** The event's verb, such as `paid`. */
  readonly verb: string
  /** The key of the resource. */
  readonly key: string
  /** The whole event: CloudEvents 1.0, structured JSON. */
  readonly payload: Buffer
  /**
   * Its number among the events of its tenant, from 1 and without gaps; 0 where `tenant_event_policy` does
   * not ask for it.
   */
  readonly seq: number
  /** The `event_epoch` of `tenant_event_policy` when it was numbered. */
  readonly epoch: number
  /** When the log got it, for an event that does not say when it happened. */
  readonly loggedAt?: Date
}

/** Events in an order that never changes, and in which nothing appears behind a reader. */
export interface EventLog {
  /**
   * The events behind a position. Waits for more until the signal aborts. @throws what reading throws: the
   * reader begins again.
   */
  read(after: number, signal: AbortSignal): AsyncIterable<LoggedEvent>
  /** The number of events that are behind a position and can still be read, at most. */
  behind(position: number): Promise<number>
}

/** The first and last positions of a log. */
export interface LogEnds {
  /** The position of the first event that is not removed; undefined where all are. */
  readonly first: number | undefined
  /** The position of the last event, which may be removed. */
  readonly last: number
}

/**
 * The events behind a position, without those that were removed. Positions have no gaps, and the oldest
 * events are removed first.
 */
export const eventsBehind = ({ first, last }: LogEnds, position: number): number =>
  first === undefined ? 0 : Math.max(0, last - Math.max(position, first - 1))
