import type { Principal } from '../../context.js'
import { DeadlineExceeded, ResourceExhausted } from '../../errors.js'
import { errorForLog } from '../../faults/driver-fault.js'
import { BucketNames } from '../rate-limit/bucket-names.js'
import { networkOf } from '../../text/network-of.js'
import type { Interceptor, Reply, ReplyOrPromise } from '../chain/interceptor.js'
import type { Logger } from '../observability/logger.js'
import type { RateLimiter } from '../rate-limit/rate-limiter.js'
import type { RequestId } from './request-id.js'
import type { TenantHint } from './tenant-id.js'

/**
 * The identification of callers: not at all, by the development headers, by a verified bearer token, or by
 * the application's principal function.
 */
export type Identity = 'nothing' | 'headers' | 'bearer' | 'function'

/**
 * Charges each call to one key: its tenant, or its address if it has no tenant. A call that cannot have a
 * principal is charged here to its address. With the development headers, a call is charged here to the
 * tenant that they name. Other calls are charged once their principal is known, or when they fail earlier. If
 * the limiter fails, that is logged and the call continues.
 */
export const rateLimit = (
  limiter: RateLimiter,
  logger: Logger,
  identity: Identity,
): Interceptor<unknown, RequestId & TenantHint> => {
  const tenants = new BucketNames('tenant')
  const peers = new BucketNames('peer')
  return (next) => (call) => {
    const bucketOf = (tenant: string): string =>
      tenant === '' ? peers.of(networkOf(call.peer)) : tenants.of(tenant)
    const consume = async (bucket: string): Promise<void> => {
      try {
        await call.time.step(Promise.resolve(limiter.consume(bucket)))
      } catch (reason) {
        const retryAfterMs = msBeforeNext(reason)
        if (retryAfterMs !== undefined)
          throw new ResourceExhausted('too many requests: retry later', retryAfterMs)
        if (reason instanceof DeadlineExceeded) throw reason
        logger.warn({ err: errorForLog(reason) }, 'the rate limiter failed, so the call is not limited')
      }
    }

    const mayBeSomebody =
      identity === 'function' || (identity === 'bearer' && call.metadata.get('authorization') !== undefined)
    if (!mayBeSomebody) {
      const bucket = bucketOf(identity === 'headers' ? call.tenantHint : '')
      return consume(bucket).then(() => next(call))
    }

    let isCharged = false
    call.charge = (principal: Principal): Promise<void> => {
      isCharged = true
      return consume(bucketOf(principal.tenant))
    }
    return orElse(
      () => next(call),
      async (error) => {
        if (!isCharged) await consume(bucketOf(''))
        throw error
      },
    )
  }
}

const orElse = (work: () => ReplyOrPromise, onError: (error: unknown) => Promise<Reply>): ReplyOrPromise => {
  try {
    const reply = work()
    return reply instanceof Promise ? reply.catch(onError) : reply
  } catch (error) {
    return onError(error)
  }
}

const msBeforeNext = (reason: unknown): number | undefined => {
  if (typeof reason !== 'object' || reason === null || reason instanceof Error) return undefined
  const { msBeforeNext: delay } = reason as { msBeforeNext?: unknown }
  return typeof delay === 'number' ? delay : undefined
}
