import type { IncomingMessage } from 'node:http'
import { type Principal, RequestContext } from '../context.js'

type Next = (error?: unknown) => void

/**
 * A middleware for Nest's own routes, which do not pass the chain. Code behind it, repositories included,
 * runs as the principal that `read` returns. Undefined means no principal, which reaches no tenant's row. An
 * error refuses the request.
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
