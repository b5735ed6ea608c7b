import type { RequestListener } from 'node:http'
import { requestIdFrom } from '../../text/request-id.js'

/**
 * The listener, with a request id on every response. Responses of probes and of mounted handlers have it too; a mounted
 * handler finds the id in the header of its request. The chain takes it over for calls. An id that a surrounding server
 * has already set on the response is kept.
 */
export const identified =
  (listener: RequestListener): RequestListener =>
  (request, response) => {
    const id = requestIdFrom(response.getHeader('x-request-id') ?? request.headers['x-request-id'])
    request.headers['x-request-id'] = id
    if (!response.headersSent) response.setHeader('x-request-id', id)
    listener(request, response)
  }
