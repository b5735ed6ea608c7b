import type { IncomingMessage } from 'node:http'

/**
 * The route templates, such as `/v1/widgets/{id}`, of requests in progress, which telemetry calls
 * `http.route`. Undefined until the route is found.
 */
export const matchedRoutes = new WeakMap<IncomingMessage, string | undefined>()
