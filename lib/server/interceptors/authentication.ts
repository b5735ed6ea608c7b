import { frozenPrincipal } from '../../context.js'
import { bearerOf } from '../authn/bearer.js'
import type { Authenticator } from '../authn/authenticator.js'
import type { Interceptor, Passed } from '../chain/interceptor.js'
import type { Logger } from '../observability/logger.js'
import type { RequestId } from './request-id.js'

/**
 * Verifies the bearer token if there is one, also for public methods, and sets its principal on the call.
 * Rejects a request that cannot be read.
 */
export const authentication =
  (authenticator: Authenticator, logger: Logger): Interceptor<unknown, RequestId & Passed<'rateLimit'>> =>
  (next) =>
  (call) => {
    if (call.unreadable !== undefined) throw call.unreadable
    const token = bearerOf(call.metadata.get('authorization'))
    if (token === undefined) return next(call)
    const { metadata, peer, time } = call
    return time
      .step(authenticator.authenticate(token, { metadata, peer, signal: time.signal, logger }))
      .then((verified) => {
        call.verified = frozenPrincipal(verified)
        return next(call)
      })
  }
