import { randomUUID } from 'node:crypto'

/** Returns the caller's request id if it is safe to log and to return, or a new one. */
export const requestIdFrom = (given: unknown): string =>
  typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/
