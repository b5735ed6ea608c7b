import type { TraceIds } from '../../context.js'
import type { LoggedEvent } from '../log/event-log.js'

/** An event as a consumer receives it. */
export interface ReceivedEvent<Data = unknown> {
  /** The event's unique id. */
  readonly id: string
  /** The source, a URI reference. */
  readonly source: string
  /** The event type, such as `order.paid`. */
  readonly type: string
  /** The resource type, such as `order`. */
  readonly resource: string
  /** The verb, such as `paid`. */
  readonly verb: string
  /** The resource's key. */
  readonly key: string
  /** The resource name, or the key if it has none. */
  readonly subject: string
  /** The tenant. Empty for an event of all tenants. */
  readonly tenant: string
  /** The time of the event, or the time when the stream received it if the event has none. */
  readonly time: Date
  /**
   * The data of the event: `{ resource?, before?, changed? }` for changes of resources. Undefined if it was
   * too large to be sent.
   */
  readonly data: Data
  /** True if `data` was omitted because the event exceeds 512 KiB. */
  readonly isTruncated: boolean
  /** The id of the request that caused it. Empty if there was none. */
  readonly requestId: string
  /**
   * The actor of the call: its subject, or `system:` followed by the reason given to `asSystem`. Empty if the
   * event does not include it.
   */
  readonly actor: string
  /** The event's sequence number within its tenant; 0 if numbering is off. */
  readonly seq: number
}

/** An event with the span that caused it. */
export interface Received {
  readonly event: ReceivedEvent
  readonly trace: TraceIds | undefined
}

/** Matches a W3C Trace Context. Ids of zeros are invalid. */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}$/
/**
 * Matches the characters that log lines and headers can contain. A process may use ids for its own work that
 * a server would not accept from callers.
 */
const REQUEST_ID = /^[\x20-\x7e]{1,128}$/
/** Matches an actor. CloudEvents allows no control characters. */
const ACTOR = /^[^\p{Cc}\p{Cs}]{1,1000}$/u
/** Matches a time in RFC 3339 format, which CloudEvents requires. */
const TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/

/**
 * Parses an event of a log. Every client that can publish to the stream may have written it, so invalid parts
 * count as missing.
 */
export function received(logged: LoggedEvent): Received {
  const { id, tenant, resource, verb, key, payload, seq } = logged
  const said = JSON.parse(payload.toString()) as Readonly<Record<string, unknown>>
  const text = (name: string): string => (typeof said[name] === 'string' ? said[name] : '')
  const [, traceId, spanId] = TRACEPARENT.exec(text('traceparent')) ?? []
  return {
    event: {
      ...{ id, tenant, resource, verb, key, seq, type: `${resource}.${verb}` },
      source: text('source'),
      subject: text('subject'),
      time: timeIn(text('time')) ?? logged.loggedAt ?? new Date(),
      data: said.data,
      isTruncated: said.truncated === true,
      requestId: REQUEST_ID.test(text('requestid')) ? text('requestid') : '',
      actor: ACTOR.test(text('actor')) ? text('actor') : '',
    },
    trace: traceId === undefined || spanId === undefined ? undefined : { traceId, spanId },
  }
}

const timeIn = (text: string): Date | undefined => {
  const time = TIME.test(text) ? new Date(text) : undefined
  return Number.isNaN(time?.getTime()) ? undefined : time
}
