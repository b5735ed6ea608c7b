import type { Message } from '@bufbuild/protobuf'
import { Cancelled, Unimplemented } from '../../errors.js'
import type { Call } from './call.js'
import type { Deadline } from './deadline.js'
import type { Next, Reply, ReplyOrPromise } from './interceptor.js'

/** Applies `onReply` to the reply, at once or when it resolves. */
export const withReply = (
  reply: ReplyOrPromise,
  onReply: (reply: Reply) => ReplyOrPromise,
): ReplyOrPromise => (reply instanceof Promise ? reply.then(onReply) : onReply(reply))

/**
 * Runs the inner chain and reports the end of its reply: at once for a single message, and for a stream when
 * it ends, fails or is cancelled by its reader. `settled` receives the thrown error, or the error that the
 * caller received.
 */
export const untilSettled = <C extends Call>(
  call: C,
  next: Next<C>,
  settled: (error?: unknown) => void,
): ReplyOrPromise => {
  const succeeded = (reply: Reply): Reply => {
    if (Symbol.asyncIterator in reply) return watched(call, reply, settled)
    settled()
    return reply
  }
  const failed = (error: unknown): never => {
    settled(error)
    throw error
  }
  let reply: ReplyOrPromise
  try {
    reply = next(call)
  } catch (error) {
    return failed(error)
  }
  return reply instanceof Promise ? reply.then(succeeded, failed) : succeeded(reply)
}

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

/**
 * Yields the messages of a stream until the call ends. Then it stops waiting for a pending message and closes
 * the stream.
 */
export async function* untilEnd(stream: AsyncIterable<Message>, time: Deadline): AsyncIterable<Message> {
  const iterator = stream[Symbol.asyncIterator]()
  const leave = () => void endOf(iterator).catch(() => {})
  // Closes the stream at once, because a reader that has stopped requests no further message.
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

/** Yields the messages of a stream and replaces its errors. */
export async function* mapStreamError(
  stream: AsyncIterable<Message>,
  fail: (error: unknown) => never,
): AsyncIterable<Message> {
  try {
    yield* stream
  } catch (error) {
    fail(error)
  }
}

/**
 * Returns the only message of a stream.
 * @throws Unimplemented if the stream is empty.
 */
export async function onlyOne(messages: AsyncIterable<Message>): Promise<Message> {
  for await (const message of messages) return message
  throw new Unimplemented('the call contains no message')
}
