import { DeadlineExceeded } from '../../errors.js'
import type { Interceptor, Passed, Reply } from '../interceptor.js'
import type { RequestId } from './request-id.js'

/** Answers DeadlineExceeded for a handler that goes on although its signal says that the time is up. */
export const timeout =
  (): Interceptor<Passed<'timeout'>, RequestId & Passed<'circuitBreaker'>> => (call, next) => {
    const passed = call.passed('timeout')
    if (call.time.at === undefined || call.method.isStreaming) return next(passed)
    if (call.time.expired) throw new DeadlineExceeded()
    const answer = next(passed)
    if (!(answer instanceof Promise)) return answer
    return new Promise<Reply>((resolve, reject) => {
      call.time.onExpire(() => reject(new DeadlineExceeded()))
      answer.then(resolve, reject)
    })
  }
