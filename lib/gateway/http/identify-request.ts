import type { IncomingMessage, ServerResponse } from 'node:http'
import { requestIdFrom } from '../../text/request-id-from.js'

/** Adds a request id to a response that has none and belongs to no call. The chain assigns ids to calls. */
export function identify(request: IncomingMessage, response: ServerResponse): void {
  if (!response.headersSent && !response.hasHeader('x-request-id'))
    response.setHeader('x-request-id', requestIdFrom(request.headers['x-request-id']))
}
