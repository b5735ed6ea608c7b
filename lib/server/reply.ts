import type { Message } from '@bufbuild/protobuf'
import type { Answer, Reply } from './interceptor.js'

/** Whether the reply is a stream. */
export const isStream = (reply: Reply): reply is AsyncIterable<Message> => Symbol.asyncIterator in reply

/** Goes on with the answer of `work`, or with its error: at once where nothing has to be waited for. */
export const answered = (
  work: () => Answer,
  onReply: (reply: Reply) => Reply,
  onError: (error: unknown) => Reply,
): Answer => {
  let answer: Answer
  try {
    answer = work()
  } catch (error) {
    return onError(error)
  }
  return answer instanceof Promise ? answer.then(onReply, onError) : onReply(answer)
}

/** The answer, looked at or changed once it is there. */
export const whenAnswered = (answer: Answer, onReply: (reply: Reply) => Reply): Answer =>
  answer instanceof Promise ? answer.then(onReply) : onReply(answer)

/**
 * Tells when the whole reply is through: for a single message at once, for a stream when it ended, failed (with the
 * error) or was given up by its reader.
 */
export const whenSettled = (reply: Reply, settled: (error?: unknown) => void): Reply => {
  if (!isStream(reply)) {
    settled()
    return reply
  }
  return watched(reply, settled)
}

async function* watched(stream: AsyncIterable<Message>, settled: (error?: unknown) => void) {
  let failure: unknown
  try {
    yield* stream
  } catch (error) {
    failure = error
    throw error
  } finally {
    settled(failure)
  }
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
