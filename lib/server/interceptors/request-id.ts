import { requestIdFrom } from '../../text/request-id.js'
import { Deadline } from '../chain/deadline.js'
import type { Interceptor, Passed } from '../chain/interceptor.js'
import type { Method } from '../chain/method.js'
import { untilEnd, untilSettled, withReply } from '../chain/reply.js'

export interface RequestId {
  readonly requestId: string
  /** Limits every later step of the call. */
  readonly time: Deadline
}

/**
 * Gives every call an id, the caller's own when it is safe to log, and its deadline: the sooner of the caller's and the
 * method's. A step that does not settle by then is no longer awaited. A stream only has the caller's deadline; each of
 * its steps before the handler has the method's time.
 */
export const requestId =
  (
    timeoutMsOf: (method: Method) => number,
    openCalls: Deadline[],
  ): Interceptor<RequestId, Passed<'logging'>> =>
  (next, { method }) => {
    const { isStreaming } = method
    const timeoutMs = timeoutMsOf(method)
    const inTime: typeof next = (call) => {
      const reply = next(call)
      const bound = reply instanceof Promise ? call.time.bound(reply, true) : reply
      if (!isStreaming) return bound
      return withReply(bound, (reply) => (Symbol.asyncIterator in reply ? untilEnd(reply, call.time) : reply))
    }
    return (call) => {
      const { caller, deadline = Number.POSITIVE_INFINITY, since = Date.now() } = call.incoming
      const requestId = requestIdFrom(call.metadata.get('x-request-id'))
      call.headers.set('x-request-id', requestId)
      const at = isStreaming ? deadline : Math.min(deadline, since + timeoutMs)
      const time = new Deadline(
        Number.isFinite(at) ? at : undefined,
        caller,
        isStreaming ? timeoutMs : undefined,
        openCalls,
      )
      return untilSettled(Object.assign(call, { requestId, time }), inTime, () => time.clear())
    }
  }
