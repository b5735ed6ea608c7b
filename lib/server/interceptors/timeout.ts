import type { Interceptor, Passed } from '../chain/interceptor.js'
import type { Keyed } from './idempotency.js'

/** Starts no handler after the time is over, and replies for a handler that ignores its signal. */
export const timeout =
  (): Interceptor<unknown, Keyed & Passed<'circuitBreaker'>> =>
  (next, { method }) =>
  (call) => {
    const { time } = call
    time.mustGoOn()
    const reply = next(call)
    call.key?.runs(reply)
    return reply instanceof Promise && !method.isStreaming ? time.bound(reply) : reply
  }
