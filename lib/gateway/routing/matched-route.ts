import type { IncomingMessage } from 'node:http'

/**
 * The templates of routes, such as `/v1/widgets/{id}`, of the requests that somebody waits for: what
 * telemetry calls `http.route`. Undefined until the route is found.
 */
export const matchedRoutes = new WeakMap<IncomingMessage, string | undefined>()
