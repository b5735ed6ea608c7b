import { type DescMethod, fromBinary, type Message } from '@bufbuild/protobuf'
import { Metadata as GrpcMetadata } from '@grpc/grpc-js'
import { type CallContext, ServerError } from 'nice-grpc'
import { AshlarError, Cancelled, Internal } from '../../errors.js'
import type { Dispatcher } from '../../call.js'
import { messageBytes } from '../../resource/wire/message-writer.js'
import { GrpcIncoming } from './incoming.js'
import { intoNice } from './metadata.js'
import { type Streamed, takeStreamed } from './stream-call.js'
import { malformed, statusOf } from './unary.js'

type Bytes = Uint8Array

/** The nice-grpc handler of a streaming method: bytes in, bytes out, the dispatcher between them. */
export const streamHandler = (method: DescMethod, dispatcher: Dispatcher) => {
  const handle = (requests: AsyncIterable<Bytes> | Bytes, context: CallContext) =>
    respond(method, dispatcher, Symbol.asyncIterator in requests ? requests : only(requests), context)
  return method.methodKind === 'client_streaming'
    ? async (requests: AsyncIterable<Bytes>, context: CallContext) => {
        let last: Bytes | undefined
        for await (const bytes of handle(requests, context)) last = bytes
        return last
      }
    : handle
}

async function* respond(
  method: DescMethod,
  dispatcher: Dispatcher,
  requests: AsyncIterable<Bytes>,
  context: CallContext,
): AsyncGenerator<Bytes, void> {
  const streamed = takeStreamed(context.metadata)
  const incoming = new GrpcIncoming(method, streamed.metadata, streamed.arrival, context.peer)
  let headersSent = false
  const sendHeaders = () => {
    if (!headersSent) intoNice(incoming.headers, context.header)
    headersSent = true
  }
  const toBytes = (message: Message): Bytes => {
    try {
      return messageBytes(method.output, message)
    } catch (error) {
      // For the call's log: what the caller is told.
      incoming.caller.leave(new Internal(error))
      throw error
    }
  }
  try {
    for await (const message of dispatcher.stream(incoming, decoded(method, requests, streamed))) {
      sendHeaders()
      yield toBytes(message)
    }
  } catch (error) {
    const { code, details, metadata } = statusOf(error, new GrpcMetadata())
    for (const value of metadata.get(DETAILS)) context.trailer.set(DETAILS, value as Buffer)
    throw new ServerError(code as number, details)
  } finally {
    sendHeaders()
    intoNice(incoming.trailers, context.trailer)
  }
}

const DETAILS = 'grpc-status-details-bin'

async function* only(bytes: Bytes): AsyncIterable<Bytes> {
  yield bytes
}

const messageOf = (method: DescMethod, bytes: Bytes): Message => {
  try {
    return fromBinary(method.input, bytes)
  } catch (error) {
    throw malformed(method, error)
  }
}

/** The messages, and an error instead of an end that the caller has not sent. */
async function* decoded(
  method: DescMethod,
  requests: AsyncIterable<Bytes>,
  streamed: Streamed,
): AsyncIterable<Message> {
  let read = 0
  try {
    for await (const bytes of requests) {
      read++
      yield messageOf(method, bytes)
    }
  } catch (error) {
    throw error instanceof AshlarError ? error : new Cancelled(error)
  }
  const problem = streamed.problemAfter(read)
  if (problem !== undefined) throw problem
}
