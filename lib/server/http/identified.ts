import type { RequestListener } from 'node:http'
import { requestIdFrom } from '../../text/request-id-from.js'

/**
 * The listener, with a request id in the header of every request, from where it gets into the responses. An
 * id that a surrounding server has already set on the response is kept.
 */
export const identified =
  (listener: RequestListener): RequestListener =>
  (request, response) => {
    const id = requestIdFrom(response.getHeader('x-request-id') ?? request.headers['x-request-id'])
    request.headers['x-request-id'] = id
    listener(request, response)
  }
