import { ResourceExhausted } from '../../errors.js'
import type { Interceptor, Passed } from '../interceptor.js'
import type { Logger } from '../logger.js'
import type { RateLimiter } from '../rate-limiter.js'
import type { TenantHint } from './tenant-id.js'

/** Refuses calls beyond the limiter's share. A limiter that is out of order is logged and lets calls through. */
export const rateLimit =
  (limiter: RateLimiter | undefined, logger: Logger): Interceptor<Passed<'rateLimit'>, TenantHint> =>
  (call, next) => {
    const limited = call.passed('rateLimit')
    if (limiter === undefined) return next(limited)
    const key = call.tenantHint === '' ? `peer:${hostOf(call.peer)}` : `tenant:${call.tenantHint}`
    return limiter.consume(key).then(
      () => next(limited),
      (reason: unknown) => {
        const retryAfterMs = msBeforeNext(reason)
        if (retryAfterMs !== undefined)
          throw new ResourceExhausted('too many requests: retry later', retryAfterMs)
        logger.warn({ err: reason }, 'rate limiter failed, letting the call through')
        return next(limited)
      },
    )
  }

const msBeforeNext = (reason: unknown): number | undefined => {
  if (typeof reason !== 'object' || reason === null || reason instanceof Error) return undefined
  const { msBeforeNext: delay } = reason as { msBeforeNext?: unknown }
  return typeof delay === 'number' ? delay : undefined
}

const hostOf = (peer: string): string => peer.replace(/:\d+$/, '')
