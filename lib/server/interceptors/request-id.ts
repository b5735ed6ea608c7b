import { randomUUID } from 'node:crypto'
import { acceptableRequestId } from '../acceptable-request-id.js'
import { Deadline } from '../deadline.js'
import type { Interceptor, Passed } from '../interceptor.js'
import type { Method } from '../method.js'
import { answered, whenSettled } from '../reply.js'

export interface RequestId {
  readonly requestId: string
  /** Bounds every stage behind this one. */
  readonly time: Deadline
}

/** Gives every call an id, the caller's own when it is fit to be logged, and its deadline: the sooner of the caller's and the method's. */
export const requestId =
  (timeoutMsOf: (method: Method) => number): Interceptor<RequestId, Passed<'logging'>> =>
  (call, next) => {
    const id = acceptableRequestId(call.metadata.get('x-request-id')) ?? randomUUID()
    call.headers.set('x-request-id', id)
    const timeoutMs = call.method.isStreaming ? Number.POSITIVE_INFINITY : timeoutMsOf(call.method)
    const at = Math.min(call.incoming.deadline ?? Number.POSITIVE_INFINITY, Date.now() + timeoutMs)
    const time = new Deadline(Number.isFinite(at) ? at : undefined, call.incoming.caller)
    return answered(
      () => next(call.with({ requestId: id, time })),
      (reply) => whenSettled(reply, () => time.clear()),
      (error) => {
        time.clear()
        throw error
      },
    )
  }
