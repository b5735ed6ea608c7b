import type { Interceptor, Passed } from '../chain/interceptor.js'
import type { RequestId } from './request-id.js'

/** Starts no handler when the time is up, and replies for one that goes on although its signal says so. */
export const timeout =
  (): Interceptor<unknown, RequestId & Passed<'circuitBreaker'>> =>
  (next, { method }) =>
  (call) => {
    call.time.mustGoOn()
    const answer = next(call)
    return answer instanceof Promise && !method.isStreaming ? call.time.bound(answer) : answer
  }
