import { randomUUID } from 'node:crypto'
import type { Principal, SystemScope, TraceIds } from '../../../context.js'
import type { OutboxRow } from './outbox-row.js'

/** The data of an event. */
export interface EventFacts {
  readonly source: string
  readonly resource: string
  /** The verb, such as `created`. */
  readonly verb: string
  readonly key: string
  /** The subject for consumers. Default: the key. */
  readonly subject?: string | undefined
  /** The tenant. Empty for a resource that all tenants share. */
  readonly tenant: string
  readonly data: unknown
}

/** The call that caused an event. */
export interface EventCall {
  readonly requestId: string
  readonly trace?: TraceIds | undefined
  readonly principal?: Pick<Principal, 'subject'>
  readonly system?: SystemScope | undefined
}

/**
 * Returns a CloudEvents 1.0 event in structured JSON, with these extension attributes:
 *
 * - `accountid`: the tenant;
 * - `partitionkey`: the resource's key;
 * - `requestid`: the id of the request;
 * - `actor`: the caller;
 * - `traceparent`: the span of the call (W3C Trace Context).
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
 * Returns the call's subject, or `system:` and the reason of `asSystem`; empty for an anonymous call. A
 * subject that begins with `system:` is escaped, so that it cannot impersonate the system. Control
 * characters, which CloudEvents does not allow, are escaped, too.
 */
const actorOf = ({ principal, system }: EventCall): string =>
  (system === undefined
    ? (principal?.subject ?? '').replace(/^system:/, 'system%3A')
    : `system:${system.reason ?? ''}`
  )
    .replace(/\p{Cc}/gu, ' ')
    .toWellFormed()
