import type { Interceptor, Passed } from '../chain/interceptor.js'

/**
 * Starts no handler after the time of the call is over. The step `deadline` limits the call as a whole.
 * @param isAwaited - whether interceptors of the application or a circuit breaker wait for the handler: they
 * get the error of one that ignores its signal. So does a call with an idempotency key.
 */
export const timeout =
  (isAwaited: boolean): Interceptor<unknown, Passed<'circuitBreaker'>> =>
  (next, { method: { isStreaming } }) =>
  (call) => {
    const { time, key } = call
    time.mustGoOn()
    const reply = next(call)
    key?.runs(reply)
    return reply instanceof Promise && !isStreaming && (isAwaited || key !== undefined)
      ? time.bound(reply)
      : reply
  }
