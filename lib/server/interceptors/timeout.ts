import type { Call } from '../chain/call.js'
import type { Interceptor, Passed, ReplyOrPromise } from '../chain/interceptor.js'
import type { RequestId } from './request-id.js'

/** Starts no handler after the time is over, and replies for a handler that ignores its signal. */
export const timeout =
  (): Interceptor<unknown, RequestId & Passed<'circuitBreaker'>> =>
  (next, { method }) =>
  (call) => {
    const { time } = call
    time.mustGoOn()
    const reply = next(call)
    if (call.holdsKey) recordHandling(call, reply)
    return reply instanceof Promise && !method.isStreaming ? time.bound(reply) : reply
  }

/** The handler's work goes on when its time is over, and the key of its call is kept for as long. */
const recordHandling = (call: Call, reply: ReplyOrPromise): void => {
  const state = { settled: !(reply instanceof Promise), reply }
  call.handling = state
  const settle = () => void (state.settled = true)
  if (reply instanceof Promise) reply.then(settle, settle)
}
