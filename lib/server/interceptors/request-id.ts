import { requestIdFrom } from '../../text/request-id.js'
import { Deadline } from '../chain/deadline.js'
import type { Interceptor, Passed } from '../chain/interceptor.js'
import type { Method } from '../chain/method.js'
import { untilEnd, untilSettled, withReply } from '../chain/reply.js'

export interface RequestId {
  readonly requestId: string
  /** Bounds every stage of the call from here on. */
  readonly time: Deadline
}

/**
 * Gives every call an id, the caller's own when it is fit to be logged, and its deadline: the sooner of the caller's and the
 * method's. A stage that does not settle by then is left behind. A stream has the caller's deadline alone; each of its stages
 * before the handler has the method's time.
 */
export const requestId =
  (
    timeoutMsOf: (method: Method) => number,
    openCalls: Set<Deadline>,
  ): Interceptor<RequestId, Passed<'logging'>> =>
  (next, { method }) => {
    const { isStreaming } = method
    const timeoutMs = timeoutMsOf(method)
    const inTime: typeof next = (call) => {
      const answer = next(call)
      const bound = answer instanceof Promise ? call.time.bound(answer, true) : answer
      if (!isStreaming) return bound
      return withReply(bound, (reply) => (Symbol.asyncIterator in reply ? untilEnd(reply, call.time) : reply))
    }
    return (call) => {
      const { caller, deadline = Number.POSITIVE_INFINITY } = call.incoming
      const requestId = requestIdFrom(call.metadata.get('x-request-id'))
      call.headers.set('x-request-id', requestId)
      const at = isStreaming ? deadline : Math.min(deadline, Date.now() + timeoutMs)
      const time = new Deadline(
        Number.isFinite(at) ? at : undefined,
        caller,
        isStreaming ? timeoutMs : undefined,
      )
      openCalls.add(time)
      const done = () => {
        openCalls.delete(time)
        time.clear()
      }
      return untilSettled(Object.assign(call, { requestId, time }), inTime, done)
    }
  }
