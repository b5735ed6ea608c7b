import type { Interceptor, Passed } from '../chain/interceptor.js'
import type { Keyed } from './idempotency.js'

/**
 * Guards the handler alone: starts none after the time is over, and replies for one that ignores its signal.
 * The call as a whole is held to its time by `requestId`.
 */
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
