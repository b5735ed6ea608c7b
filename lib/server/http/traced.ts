import type { IncomingMessage, RequestListener } from 'node:http'
import { Metadata } from '../../call.js'
import { isProbe } from '../../gateway/http/probes.js'
import { matchedRoutes } from '../../gateway/routing/matched-route.js'
import { schemeOf } from '../../gateway/routing/target.js'
import type { Telemetry } from '../observability/telemetry.js'

/**
 * The listener, with a span and a duration for each request, including mounted handlers' requests. A request
 * is named after its route, so that names are few. Probes are left out.
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

/** RFC 9110 and RFC 5789. */
const METHODS: ReadonlySet<string> = new Set(
  'CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT TRACE'.split(' '),
)
/** The name that the semantic conventions give to any other method. */
const OTHER = '_OTHER'

/** Anybody may make up a method, and each would be a time series of its own. */
const knownMethod = ({ method = 'GET' }: IncomingMessage): string => (METHODS.has(method) ? method : OTHER)

const nameOf = (method: string): string => (method === OTHER ? 'HTTP' : method)

/** W3C Trace Context and Baggage. */
const PROPAGATED = ['traceparent', 'tracestate', 'baggage']

/** Without the query, which may hold private data. */
const pathOf = ({ url = '/' }: IncomingMessage): string => url.split('?', 1)[0] ?? '/'
