import type { Message } from '@bufbuild/protobuf'
import type { ServerCall } from '../call.js'
import type { Answer, Call, Interceptor, Passed, Reply } from '../interceptor.js'
import type { InterceptedCall, UserInterceptor } from '../user-interceptor.js'

type Needs = ServerCall & Passed<'idempotency'>

/** Runs the interceptors of the configuration, in their order, around unary handlers. */
export const userInterceptors =
  (interceptors: readonly UserInterceptor[]): Interceptor<Passed<'userInterceptors'>, Needs> =>
  (call, next) => {
    const last = call.passed('userInterceptors')
    if (interceptors.length === 0 || call.method.isStreaming) return next(last)
    const from = (index: number): Promise<Message> => {
      const interceptor = interceptors[index]
      if (interceptor === undefined) return promised(() => next(last)) as Promise<Message>
      return interceptor(call as Call & Needs & InterceptedCall, (request) => {
        if (request !== undefined) call.request = request
        return from(index + 1)
      })
    }
    return call.context.run(() => from(0))
  }

/** Users write `next().then(...)` and `await next()` alike, and catch with either. */
const promised = async (work: () => Answer): Promise<Reply> => work()
