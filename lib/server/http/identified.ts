import type { RequestListener } from 'node:http'
import { requestIdFrom } from '../../text/request-id-from.js'

/**
 * Wraps a listener so that every request has a request id in its headers, which is copied to the response. An
 * id that a surrounding server has set on the response is kept.
 */
export const identified =
  (listener: RequestListener): RequestListener =>
  (request, response) => {
    const id = requestIdFrom(response.getHeader('x-request-id') ?? request.headers['x-request-id'])
    request.headers['x-request-id'] = id
    listener(request, response)
  }
