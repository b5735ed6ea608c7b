import type { IncomingMessage, ServerResponse } from 'node:http'
import { requestIdFrom } from '../../text/request-id-from.js'

/** Puts a request id on a response that has none and is no call's: the chain gives each call its own. */
export function identify(request: IncomingMessage, response: ServerResponse): void {
  if (!response.headersSent && !response.hasHeader('x-request-id'))
    response.setHeader('x-request-id', requestIdFrom(request.headers['x-request-id']))
}
