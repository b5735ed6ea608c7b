import type { Message } from '@bufbuild/protobuf'
import { Cancelled } from '../../errors.js'
import type { Call } from './call.js'
import type { Deadline } from './deadline.js'
import type { Answer, Next, Reply } from './interceptor.js'

/** Goes on with the reply of the rest of the chain, or with its error: at once where nothing has to be waited for. */
export const proceed = <C extends Call>(
  call: C,
  next: Next<C>,
  onReply: (reply: Reply) => Reply,
  onError: (error: unknown) => Reply,
): Answer => {
  let answer: Answer
  try {
    answer = next(call)
  } catch (error) {
    return onError(error)
  }
  return answer instanceof Promise ? answer.then(onReply, onError) : onReply(answer)
}

/** The reply, looked at or changed once it is there. */
export const withReply = (answer: Answer, onReply: (reply: Reply) => Reply): Answer =>
  answer instanceof Promise ? answer.then(onReply) : onReply(answer)

/**
 * Runs the rest of the chain and tells when its reply is through: for a single message at once, for a stream when it ended,
 * failed or was given up by its reader. Tells the error it failed with, or what the caller was told.
 */
export const untilSettled = <C extends Call>(
  call: C,
  next: Next<C>,
  settled: (error?: unknown) => void,
): Answer =>
  proceed(
    call,
    next,
    (reply) => {
      if (Symbol.asyncIterator in reply) return watched(call, reply, settled)
      settled()
      return reply
    },
    (error) => {
      settled(error)
      throw error
    },
  )
async function* watched(call: Call, stream: AsyncIterable<Message>, settled: (error?: unknown) => void) {
  let outcome: { readonly error?: unknown } | undefined
  try {
    yield* stream
    outcome = {}
  } catch (error) {
    outcome = { error }
    throw error
  } finally {
    settled(outcome === undefined ? (call.ended ?? new Cancelled()) : outcome.error)
  }
}

/** The stream, until the time of its call is over: what it is waiting for then is left behind, and told to end. */
export async function* untilEnd(stream: AsyncIterable<Message>, time: Deadline): AsyncIterable<Message> {
  const iterator = stream[Symbol.asyncIterator]()
  const leave = () => void endOf(iterator).catch(() => {})
  // At once, and not when somebody asks for the next message: a reader that has stopped reading asks for none.
  const stop = time.onEnd(leave)
  let isDone = false
  try {
    for (;;) {
      const item = await time.bound(Promise.resolve(iterator.next()))
      isDone = item.done === true
      if (item.done === true) return
      yield item.value
    }
  } finally {
    stop()
    if (!isDone && time.ended === undefined) await endOf(iterator)
    else if (!isDone) leave()
  }
}

const endOf = async (iterator: AsyncIterator<Message>): Promise<void> => {
  await iterator.return?.()
}

/** The stream, with each error on its way out replaced. */
export async function* mapStreamError(
  stream: AsyncIterable<Message>,
  map: (error: unknown) => Error,
): AsyncIterable<Message> {
  try {
    yield* stream
  } catch (error) {
    throw map(error)
  }
}
