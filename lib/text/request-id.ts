import { randomUUID } from 'node:crypto'

/** The caller's own request id when it is fit to be logged and sent back, else a new one. */
export const requestIdFrom = (given: unknown): string =>
  typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/
