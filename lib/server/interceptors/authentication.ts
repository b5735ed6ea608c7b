import type { Principal } from '../../context.js'
import { bearerOf } from '../authn/bearer.js'
import type { Authenticator } from '../authenticator.js'
import type { Interceptor, Passed } from '../interceptor.js'
import type { RequestId } from './request-id.js'

export interface Verified {
  /** Who the bearer says it is, once it was verified; undefined without a bearer or an authenticator. */
  readonly verified: Principal | undefined
}

/** Verifies the bearer where one is presented, on public methods too. */
export const authentication =
  (authenticator: Authenticator | undefined): Interceptor<Verified, RequestId & Passed<'rateLimit'>> =>
  (call, next) => {
    const token = authenticator === undefined ? undefined : bearerOf(call.metadata.get('authorization'))
    if (authenticator === undefined || token === undefined) return next(call.with({ verified: undefined }))
    const { metadata, peer } = call
    return authenticator
      .authenticate(token, { metadata, peer, signal: call.time.signal })
      .then((verified) => next(call.with({ verified })))
  }
