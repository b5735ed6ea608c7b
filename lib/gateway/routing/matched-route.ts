import type { IncomingMessage } from 'node:http'

/**
 * The route templates of requests in progress, such as `/v1/widgets/{id}`, which telemetry records as
 * `http.route`. Undefined until the route is found.
 */
export const matchedRoutes = new WeakMap<IncomingMessage, string | undefined>()
