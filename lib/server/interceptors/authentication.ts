import { frozenPrincipal, type Principal } from '../../context.js'
import { bearerOf } from '../authn/bearer.js'
import type { Authenticator } from '../authn/authenticator.js'
import type { Interceptor } from '../chain/interceptor.js'
import type { Logger } from '../observability/logger.js'
import type { Limited } from './rate-limit.js'
import type { RequestId } from './request-id.js'

export interface Verified {
  /** Who the bearer says it is, once it was verified; undefined without a bearer or an authenticator. */
  readonly verified: Principal | undefined
}

/** Verifies the bearer where one is presented, on public methods too. A request that cannot be read goes no further. */
export const authentication =
  (authenticator: Authenticator | undefined, logger: Logger): Interceptor<Verified, RequestId & Limited> =>
  (call, next) => {
    if (call.unreadable !== undefined) throw call.unreadable
    const token = authenticator === undefined ? undefined : bearerOf(call.metadata.get('authorization'))
    if (authenticator === undefined || token === undefined) return next(call.with({ verified: undefined }))
    const { metadata, peer, time } = call
    return time
      .stage(authenticator.authenticate(token, { metadata, peer, signal: time.signal, logger }))
      .then((verified) => next(call.with({ verified: frozenPrincipal(verified) })))
  }
