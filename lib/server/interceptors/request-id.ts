import { requestIdFrom } from '../../text/request-id-from.js'
import type { Interceptor, Passed } from '../chain/interceptor.js'
import { untilEnd, withReply } from '../chain/reply.js'

export interface RequestId {
  readonly requestId: string
}

/**
 * Gives every call an id, the caller's own when it is safe to log. It also enforces the deadline of the call,
 * so that this costs no interceptor of its own: whatever runs inside of here and does not settle in time is
 * no longer awaited. The dispatcher starts that time, and logging ends it.
 */
export const requestId =
  (): Interceptor<RequestId, Passed<'logging'>> =>
  (next, { method: { isStreaming } }) =>
  (call) => {
    const requestId = requestIdFrom(call.metadata.get('x-request-id'))
    call.headers.set('x-request-id', requestId)
    const reply = next(Object.assign(call, { requestId }))
    const bound = reply instanceof Promise ? call.time.bound(reply, true) : reply
    if (!isStreaming) return bound
    return withReply(bound, (reply) => (Symbol.asyncIterator in reply ? untilEnd(reply, call.time) : reply))
  }
