import type { Principal } from '../../context.js'
import { DeadlineExceeded, ResourceExhausted } from '../../errors.js'
import { errorForLog } from '../../faults/driver-fault.js'
import { BucketNames, networkOf } from '../rate-limit/bucket-names.js'
import type { Answer, Interceptor, Reply } from '../chain/interceptor.js'
import type { Logger } from '../observability/logger.js'
import type { RateLimiter } from '../rate-limit/rate-limiter.js'
import type { RequestId } from './request-id.js'
import type { TenantHint } from './tenant-id.js'

/**
 * By what callers are known: by nothing, by the development headers, by a bearer that is verified, or by a principal function
 * of the user's own.
 */
export type Identity = 'nothing' | 'headers' | 'bearer' | 'function'

export interface Limited {
  /** Takes the call out of the share of the principal's tenant. Undefined when it is out of a share already, or nothing limits. */
  readonly charge?: ((principal: Principal) => Promise<void>) | undefined
}

/**
 * Takes each call out of one share: that of its tenant, or of its address where nobody vouches for a tenant. Who cannot be
 * anybody is refused here; who may be somebody as soon as it is known who, and a caller who turns out to be nobody then. A
 * limiter that is out of order is logged and lets calls through.
 */
export const rateLimit = (
  limiter: RateLimiter,
  logger: Logger,
  identity: Identity,
): Interceptor<Limited, RequestId & TenantHint> => {
  const tenants = new BucketNames('tenant')
  const peers = new BucketNames('peer')
  return (next) => (call) => {
    const bucketOf = (tenant: string): string =>
      tenant === '' ? peers.of(networkOf(call.peer)) : tenants.of(tenant)
    const consume = async (bucket: string): Promise<void> => {
      try {
        await call.time.stage(Promise.resolve(limiter.consume(bucket)))
      } catch (reason) {
        const retryAfterMs = msBeforeNext(reason)
        if (retryAfterMs !== undefined)
          throw new ResourceExhausted('too many requests: retry later', retryAfterMs)
        if (reason instanceof DeadlineExceeded) throw reason
        logger.warn({ err: errorForLog(reason) }, 'rate limiter failed, letting the call through')
      }
    }

    const mayBeSomebody =
      identity === 'function' || (identity === 'bearer' && call.metadata.get('authorization') !== undefined)
    if (!mayBeSomebody) {
      const bucket = bucketOf(identity === 'headers' ? call.tenantHint : '')
      return consume(bucket).then(() => next(call))
    }

    let isCharged = false
    const charge = (principal: Principal): Promise<void> => {
      isCharged = true
      return consume(bucketOf(principal.tenant))
    }
    return orElse(
      () => next(Object.assign(call, { charge })),
      async (error) => {
        if (!isCharged) await consume(bucketOf(''))
        throw error
      },
    )
  }
}

const orElse = (work: () => Answer, onError: (error: unknown) => Promise<Reply>): Answer => {
  try {
    const answer = work()
    return answer instanceof Promise ? answer.catch(onError) : answer
  } catch (error) {
    return onError(error)
  }
}

const msBeforeNext = (reason: unknown): number | undefined => {
  if (typeof reason !== 'object' || reason === null || reason instanceof Error) return undefined
  const { msBeforeNext: delay } = reason as { msBeforeNext?: unknown }
  return typeof delay === 'number' ? delay : undefined
}
