import type { Interceptor, Passed } from '../chain/interceptor.js'
import type { RequestId } from './request-id.js'

/** Starts no handler after the time is over, and replies for a handler that ignores its signal. */
export const timeout =
  (): Interceptor<unknown, RequestId & Passed<'circuitBreaker'>> =>
  (next, { method }) =>
  (call) => {
    call.time.mustGoOn()
    const reply = next(call)
    return reply instanceof Promise && !method.isStreaming ? call.time.bound(reply) : reply
  }
