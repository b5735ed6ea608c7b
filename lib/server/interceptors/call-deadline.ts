import type { Call } from '../chain/call.js'
import type { Interceptor, Next, Passed, Reply } from '../chain/interceptor.js'
import { untilEnd, untilSettled, withReply } from '../chain/reply.js'

/**
 * Ends the call at its deadline. Inner work that has not settled by then is no longer awaited. The dispatcher
 * starts the deadline, and this interceptor clears it when the reply is complete.
 */
export const deadline =
  (): Interceptor<unknown, Passed<'logging'>> =>
  (next, { method }) =>
    method.isStreaming
      ? (call) =>
          untilSettled(
            call,
            (call) => limited(call, next),
            () => call.time.clear(),
          )
      : (call) => {
          const { time } = call
          try {
            const reply = next(call)
            if (reply instanceof Promise) return time.bound(reply, 'call')
            time.clear()
            return reply
          } catch (error) {
            time.clear()
            throw error
          }
        }

const limited = <C extends Call>(call: C, next: Next<C>) => {
  const reply = next(call)
  const begun = reply instanceof Promise ? call.time.bound(reply, 'reply') : reply
  return withReply(begun, (reply: Reply) =>
    Symbol.asyncIterator in reply ? untilEnd(reply, call.time) : reply,
  )
}
