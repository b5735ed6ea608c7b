import type { IncomingMessage } from 'node:http'
import { type Principal, RequestContext } from '../context.js'

/** @inline */
type Next = (error?: unknown) => void

/**
 * Returns a middleware for Nest's own routes, which do not run the interceptor chain. Subsequent code,
 * including repositories, runs as the principal that `read` returns. Undefined means no principal, which
 * cannot access any tenant's rows. An error rejects the request.
 */
export const principalMiddleware =
  (
    read: (
      request: IncomingMessage,
    ) => Partial<Principal> | undefined | Promise<Partial<Principal> | undefined>,
  ) =>
  (request: IncomingMessage, _response: unknown, next: Next): void => {
    Promise.resolve()
      .then(() => read(request))
      .then(
        (principal) => RequestContext.as(principal ?? {}, () => next()),
        (error: unknown) => next(error ?? new TypeError('no principal')),
      )
      .catch(next)
  }
