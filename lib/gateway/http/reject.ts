import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AshlarError } from '../../errors.js'
import { requestIdFrom } from '../../text/request-id-from.js'
import { errorBody } from './error-body.js'
import { NOSNIFF } from './respond.js'

const HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-store', ...NOSNIFF }

/** Responds to a request that is rejected before the gateway handles it, and closes its connection. */
export function reject(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  error: AshlarError,
): void {
  const body = errorBody(error)
  response.setHeader('x-request-id', requestIdFrom(request.headers['x-request-id']))
  response.setHeader('connection', 'close')
  response.writeHead(status, { ...HEADERS, 'content-length': Buffer.byteLength(body) }).end(body)
}
