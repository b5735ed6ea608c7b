import { isMessage, type Message } from '@bufbuild/protobuf'
import type { ServerCall } from '../../call.js'
import type { Call } from '../chain/call.js'
import { messageOfReply, type SingleReply } from '../chain/entity-reply.js'
import type { Interceptor, Passed, ReplyOrPromise } from '../chain/interceptor.js'
import type { InterceptedCall, UserInterceptor } from '../chain/user-interceptor.js'

type Needs = ServerCall & Passed<'idempotency'>

/** Runs the configured interceptors in order around unary handlers. */
export const userInterceptors =
  (interceptors: readonly UserInterceptor[]): Interceptor<unknown, Needs> =>
  (next, { method }) => {
    if (method.isStreaming) return next
    return (call) => {
      const { context, principal } = call
      fix(call, { context, principal })
      const from = (index: number): Promise<Message> => {
        const interceptor = interceptors[index]
        if (interceptor === undefined) {
          fix(call, { context, principal })
          return promised(() => next(call))
        }
        return interceptor(call as Call & Needs & InterceptedCall, (request) => {
          if (request !== undefined) call.request = requestFrom(call, request)
          return from(index + 1)
        })
      }
      return call.context.run(() => from(0))
    }
  }

/** Makes the principal and context read-only, as authorization set them. Assignments have no effect. */
const fix = (call: Call, facts: Pick<ServerCall, 'context' | 'principal'>): void => {
  for (const [name, value] of Object.entries(facts))
    Object.defineProperty(call, name, {
      get: () => value as unknown,
      set: () => {},
      enumerable: true,
      configurable: true,
    })
}

/**
 * Returns the request that an interceptor passed to `next`.
 * @throws TypeError unless it is a request of the method. Other frameworks pass the call instead.
 */
const requestFrom = (call: Call, given: unknown): Message => {
  const { input } = call.method.desc
  if (isMessage(given, input)) return given
  const what = given === call ? 'next(call)' : 'next() with something else'
  throw new TypeError(
    `an interceptor of ${call.path} called ${what}: call next(), or next(request) with a ${input.typeName}`,
  )
}

/**
 * Returns a promise even for a plain reply, so that interceptors may use `next().then(...)` and errors always
 * reject.
 */
const promised = async (work: () => ReplyOrPromise): Promise<Message> =>
  messageOfReply((await work()) as SingleReply)
