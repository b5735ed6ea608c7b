import { randomUUID } from 'node:crypto'

/** The caller's request id when it is safe to log and to return, else a new one. */
export const requestIdFrom = (given: unknown): string =>
  typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/
