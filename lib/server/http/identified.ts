import type { RequestListener } from 'node:http'
import { requestIdFrom } from '../../text/request-id.js'

/**
 * The listener, with a request id on every answer: of probes and of mounted handlers, which find it in the header of their
 * request, too, and of calls, whose chain takes it over. An id that a server around has put on the answer already is kept.
 */
export const identified =
  (listener: RequestListener): RequestListener =>
  (request, response) => {
    const id = requestIdFrom(response.getHeader('x-request-id') ?? request.headers['x-request-id'])
    request.headers['x-request-id'] = id
    if (!response.headersSent) response.setHeader('x-request-id', id)
    listener(request, response)
  }
