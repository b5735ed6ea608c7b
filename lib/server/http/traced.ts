import type { IncomingMessage, RequestListener } from 'node:http'
import { Metadata } from '../../call.js'
import { isProbe } from '../../gateway/http/probes.js'
import { matchedRoutes } from '../../gateway/routing/matched-route.js'
import { schemeOf } from '../../gateway/routing/target.js'
import type { Telemetry } from '../observability/telemetry.js'

/**
 * Wraps a listener so that each request has a span and a duration, including requests of mounted handlers.
 * Requests are named after their routes, which limits the number of names. Health probes are not traced.
 */
export const traced = (listener: RequestListener, telemetry: Telemetry | undefined): RequestListener => {
  if (telemetry === undefined) return listener
  return (request, response) => {
    const path = pathOf(request)
    if (isProbe(path) || !telemetry.isHeard) return listener(request, response)
    const { headers } = request
    const method = knownMethod(request)
    const attributes = { 'http.request.method': method, 'url.path': path, 'url.scheme': schemeOf(request) }
    const carrier = new Metadata()
    for (const name of PROPAGATED) {
      const value = headers[name]
      if (typeof value === 'string') carrier.set(name, value)
    }
    matchedRoutes.set(request, undefined)
    telemetry.span({ name: nameOf(method), attributes, carrier }, (_ids, end) => {
      response.once('close', () => {
        const { statusCode } = response
        const route = matchedRoutes.get(request)
        end({
          ...(route !== undefined && { name: `${nameOf(method)} ${route}` }),
          attributes: {
            'http.response.status_code': statusCode,
            ...(route !== undefined && { 'http.route': route }),
          },
          isFault: statusCode >= 500,
        })
      })
      listener(request, response)
    })
  }
}

/** The methods of RFC 9110 and RFC 5789. */
const METHODS: ReadonlySet<string> = new Set(
  'CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT TRACE'.split(' '),
)
/** The semantic conventions' name for any other method. */
const OTHER = '_OTHER'

/**
 * Returns the method's name. Unknown methods share one name, because a client could otherwise create any
 * number of time series.
 */
const knownMethod = ({ method = 'GET' }: IncomingMessage): string => (METHODS.has(method) ? method : OTHER)

const nameOf = (method: string): string => (method === OTHER ? 'HTTP' : method)

/** The headers of W3C Trace Context and Baggage. */
const PROPAGATED = ['traceparent', 'tracestate', 'baggage']

/** Returns the path without the query, which may contain private data. */
const pathOf = ({ url = '/' }: IncomingMessage): string => url.split('?', 1)[0] ?? '/'
