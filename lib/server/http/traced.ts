import type { IncomingMessage, RequestListener } from 'node:http'
import { Metadata } from '../../call.js'
import type { Telemetry } from '../observability/telemetry.js'

/** The listener, with a span around each request, including those of mounted handlers. */
export const traced = (listener: RequestListener, telemetry: Telemetry | undefined): RequestListener => {
  if (telemetry === undefined) return listener
  return (request, response) => {
    if (!telemetry.isHeard) return listener(request, response)
    const { method = 'GET', headers } = request
    const attributes = { 'http.request.method': method, 'url.path': pathOf(request) }
    const carrier = new Metadata()
    for (const name of PROPAGATED) {
      const value = headers[name]
      if (typeof value === 'string') carrier.set(name, value)
    }
    telemetry.span({ name: `HTTP ${method}`, attributes, carrier }, (_ids, end) => {
      response.once('close', () => {
        const { statusCode } = response
        end({ attributes: { 'http.response.status_code': statusCode }, isFault: statusCode >= 500 })
      })
      listener(request, response)
    })
  }
}

/** W3C Trace Context and Baggage. */
const PROPAGATED = ['traceparent', 'tracestate', 'baggage']

/** Without the query, which may hold private data. */
const pathOf = ({ url = '/' }: IncomingMessage): string => url.split('?', 1)[0] ?? '/'
