import { randomUUID } from 'node:crypto'
import type { Principal, SystemScope, TraceIds } from '../../../context.js'
import type { OutboxRow } from './outbox-row.js'

/** The facts of an event. */
export interface EventFacts {
  readonly source: string
  readonly resource: string
  /** The verb of the event: `created`. */
  readonly verb: string
  readonly key: string
  /** The subject of the event, as its consumers name it; the key if it has no name. */
  readonly subject?: string | undefined
  /** `''` for a resource that all tenants share. */
  readonly tenant: string
  readonly data: unknown
}

/** The call that an event comes from. */
export interface EventCall {
  readonly requestId: string
  readonly trace?: TraceIds | undefined
  readonly principal?: Pick<Principal, 'subject'>
  readonly system?: SystemScope | undefined
}

/**
 * An event as CloudEvents 1.0 in structured JSON. The tenant is the extension attribute `accountid`, the key
 * of the resource `partitionkey`, the id of the request `requestid`, who made the call `actor`; `traceparent`
 * the span of the call (W3C Trace Context).
 */
export function cloudEvent(facts: EventFacts, call: EventCall): OutboxRow {
  const { requestId, trace } = call
  const { source, resource, verb, key, subject, tenant, data } = facts
  const id = randomUUID()
  const eventType = `${resource}.${verb}`
  const actor = actorOf(call)
  const event = {
    specversion: '1.0',
    id,
    source,
    type: eventType,
    subject: subject === undefined || subject === '' ? key : subject,
    time: new Date().toISOString(),
    datacontenttype: 'application/json',
    ...(tenant === '' ? {} : { accountid: tenant }),
    partitionkey: key,
    ...(requestId === '' ? {} : { requestid: requestId }),
    ...(actor === '' ? {} : { actor }),
    ...(trace === undefined ? {} : { traceparent: `00-${trace.traceId}-${trace.spanId}-01` }),
    data,
  }
  const payload = Buffer.from(JSON.stringify(event))
  return { id, accountId: tenant, aggregateType: resource, aggregateId: key, eventType, payload }
}

/**
 * The subject of the call, or `system:` with the reason of `asSystem`; empty for an anonymous call. No
 * subject passes for the system, and an attribute of CloudEvents has no control characters.
 */
const actorOf = ({ principal, system }: EventCall): string =>
  (system === undefined
    ? (principal?.subject ?? '').replace(/^system:/, 'system%3A')
    : `system:${system.reason ?? ''}`
  )
    .replace(/\p{Cc}/gu, ' ')
    .toWellFormed()
