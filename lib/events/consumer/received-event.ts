import type { TraceIds } from '../../context.js'
import type { LoggedEvent } from '../log/event-log.js'

/** An event, as its consumer gets it. */
export interface ReceivedEvent<Data = unknown> {
  /** Unique. */
  readonly id: string
  /** A URI reference. */
  readonly source: string
  /** `order.paid` */
  readonly type: string
  /** `order` */
  readonly resource: string
  /** `paid` */
  readonly verb: string
  /** The key of the resource. */
  readonly key: string
  /** The name of the resource, or its key. */
  readonly subject: string
  /** `''` for an event of all tenants. */
  readonly tenant: string
  /** When it happened; when the stream got it, where the event does not say so. */
  readonly time: Date
  /**
   * For changes of resources `{ resource?, before?, changed? }`; undefined where it was too large to be sent.
   */
  readonly data: Data
  /** True if `data` is left out, because the event had more than 512 KiB. */
  readonly isTruncated: boolean
  /** Of the call that it comes from; empty where it has none. */
  readonly requestId: string
  /**
   * The actor of the call: its subject, or `system:` followed by the reason given to `asSystem`. Empty if the
   * event does not include it.
   */
  readonly actor: string
  /** The event's sequence number within its tenant; 0 if numbering is off. */
  readonly seq: number
}

/** With the span that the event comes from. */
export interface Received {
  readonly event: ReceivedEvent
  readonly trace: TraceIds | undefined
}

/** W3C Trace Context: ids of zeros are none. */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}$/
/**
 * The characters that a log line and a header can contain. A process may use ids for its own work that a
 * server would not accept from callers.
 */
const REQUEST_ID = /^[\x20-\x7e]{1,128}$/
/** CloudEvents allows no control characters. */
const ACTOR = /^[^\p{Cc}\p{Cs}]{1,1000}$/u
/** RFC 3339, as CloudEvents asks for. */
const TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/

/**
 * Anybody may have written it who may send to the stream: what is not as it has to be counts as not given.
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
