import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/

/** The caller's request id, or a new one, for an answer that never reached the chain. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = String(headers['x-request-id'] ?? '')
  return REQUEST_ID.test(given) ? given : randomUUID()
}
