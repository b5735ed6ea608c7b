import type { Interceptor, Passed } from '../chain/interceptor.js'

/**
 * Does not start a handler after the call's deadline. The `deadline` interceptor limits the call as a whole.
 * @param isAwaited - true if the application's interceptors or a circuit breaker wait for the handler. They
 *   then receive the error of a handler that ignores its signal, and so does a call with an idempotency key.
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
