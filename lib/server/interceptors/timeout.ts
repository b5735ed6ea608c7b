import type { Interceptor, Passed } from '../chain/interceptor.js'
import type { RequestId } from './request-id.js'

/** Starts no handler when the time is up, and answers for one that goes on although its signal says so. */
export const timeout =
  (): Interceptor<Passed<'timeout'>, RequestId & Passed<'circuitBreaker'>> => (call, next) => {
    const { time, method } = call
    time.mustGoOn()
    const answer = next(call.passed('timeout'))
    return answer instanceof Promise && !method.isStreaming ? time.bound(answer) : answer
  }
