import type { LoggedEvent } from './event-log.js'

/**
 * Parses an event's tenant, resource and position from its payload. Returns undefined if the payload is not
 * an event.
 */
export function eventIn(payload: Buffer): LoggedEvent | undefined {
  const event = jsonOf(payload)
  const { id, type, accountid = '', partitionkey } = event
  const [isText, end] = [
    [id, type, accountid, partitionkey].every((value) => typeof value === 'string'),
    String(type).lastIndexOf('.'),
  ]
  if (!isText || id === '' || end < 1) return undefined
  return {
    ...{ position: 0, seq: 0, epoch: 0, payload },
    id: id as string,
    tenant: accountid as string,
    resource: (type as string).slice(0, end),
    verb: (type as string).slice(end + 1),
    key: partitionkey as string,
  }
}

const jsonOf = (payload: Buffer): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(payload.toString())
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
