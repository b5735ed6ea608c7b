import { randomUUID } from 'node:crypto'
import { acceptableRequestId } from '../../text/request-id.js'
import { Deadline } from '../chain/deadline.js'
import type { Interceptor, Passed } from '../chain/interceptor.js'
import type { Method } from '../chain/method.js'
import { answered, isStream, untilEnd, whenSettled } from '../chain/reply.js'

export interface RequestId {
  readonly requestId: string
  /** Bounds every stage behind this one. */
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
  (call, next) => {
    const id = acceptableRequestId(call.metadata.get('x-request-id')) ?? randomUUID()
    call.headers.set('x-request-id', id)
    const { isStreaming } = call.method
    const timeoutMs = timeoutMsOf(call.method)
    const own = isStreaming ? Number.POSITIVE_INFINITY : Date.now() + timeoutMs
    const at = Math.min(call.incoming.deadline ?? Number.POSITIVE_INFINITY, own)
    const { caller } = call.incoming
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
    return answered(
      () => {
        const answer = next(call.with({ requestId: id, time }))
        return answer instanceof Promise ? time.bound(answer, true) : answer
      },
      (reply) => whenSettled(call, isStream(reply) ? untilEnd(reply, time) : reply, done),
      (error) => {
        done()
        throw error
      },
    )
  }
