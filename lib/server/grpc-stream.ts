import { type DescMethod, type Message, toBinary } from '@bufbuild/protobuf'
import { Metadata as GrpcMetadata } from '@grpc/grpc-js'
import { type CallContext, ServerError } from 'nice-grpc'
import { Caller, type Dispatcher, type Incoming, Metadata } from './call.js'
import { fromNice, intoNice } from './grpc-metadata.js'
import { decode, statusOf } from './grpc-unary.js'

type Bytes = Uint8Array

/** What nice-grpc calls for a streaming method: bytes in, bytes out, the dispatcher between them. */
export const streamHandler = (method: DescMethod, dispatcher: Dispatcher) => {
  const answer = (requests: AsyncIterable<Bytes> | Bytes, context: CallContext) =>
    answered(method, dispatcher, Symbol.asyncIterator in requests ? requests : only(requests), context)
  return method.methodKind === 'client_streaming'
    ? async (requests: AsyncIterable<Bytes>, context: CallContext) => {
        let last: Bytes | undefined
        for await (const bytes of answer(requests, context)) last = bytes
        return last
      }
    : answer
}

async function* answered(
  method: DescMethod,
  dispatcher: Dispatcher,
  requests: AsyncIterable<Bytes>,
  context: CallContext,
): AsyncGenerator<Bytes, void> {
  const incoming = incomingOf(method, context)
  let headersSent = false
  const sendHeaders = () => {
    if (!headersSent) intoNice(incoming.headers, context.header)
    headersSent = true
  }
  try {
    for await (const message of dispatcher.stream(incoming, decoded(method, requests))) {
      sendHeaders()
      yield toBinary(method.output, message)
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

const incomingOf = (method: DescMethod, { metadata, signal, peer }: CallContext): Incoming => ({
  method,
  door: 'grpc',
  metadata: fromNice(metadata),
  caller: new Caller(signal),
  // grpc-js ends the call itself at the caller's deadline, which aborts the signal.
  deadline: undefined,
  peer,
  headers: new Metadata(),
  trailers: new Metadata(),
})

async function* only(bytes: Bytes): AsyncIterable<Bytes> {
  yield bytes
}

async function* decoded(method: DescMethod, requests: AsyncIterable<Bytes>): AsyncIterable<Message> {
  for await (const bytes of requests) yield decode(method, bytes)
}
