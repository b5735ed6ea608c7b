import type { DescMethod, Message } from '@bufbuild/protobuf'
import { Metadata as GrpcMetadata } from '@grpc/grpc-js'
import { type CallContext, ServerError } from 'nice-grpc'
import { AshlarError, Internal } from '../../errors.js'
import type { Dispatcher } from '../../call.js'
import { messageBytes } from '../../resource/wire/message-writer.js'
import { GrpcIncoming, hasOneRequest } from './incoming.js'
import { intoNice } from './metadata.js'
import { takeStreamed } from './stream-call.js'
import { statusOf } from './unary.js'

type Bytes = Uint8Array

/**
 * Returns the nice-grpc handler of a streaming method. It reads the requests itself and responds with the
 * dispatcher's replies.
 */
export const streamHandler = (method: DescMethod, dispatcher: Dispatcher) => {
  const handle = (_requests: unknown, context: CallContext) => respond(method, dispatcher, context)
  return method.methodKind === 'client_streaming'
    ? async (requests: unknown, context: CallContext) => {
        let last: Bytes | undefined
        for await (const bytes of handle(requests, context)) last = bytes
        return last
      }
    : handle
}

async function* respond(
  method: DescMethod,
  dispatcher: Dispatcher,
  context: CallContext,
): AsyncGenerator<Bytes, void> {
  const { metadata, arrival } = takeStreamed(context.metadata)
  const incoming = new GrpcIncoming(method, metadata, arrival, context.peer, dispatcher.limits)
  const requests = hasOneRequest(method) ? undefined : incoming.requests()
  if (requests === undefined) incoming.rest = incoming
  let headersSent = false
  const sendHeaders = () => {
    if (!headersSent) intoNice(incoming.headers, context.header)
    headersSent = true
  }
  const toBytes = (message: Message): Bytes => {
    try {
      return messageBytes(method.output, message, dispatcher.limits.maxResponseBytes)
    } catch (error) {
      // Reports the error that the caller receives to the call's log.
      incoming.caller.leave(error instanceof AshlarError ? error : new Internal(error))
      throw error
    }
  }
  try {
    for await (const message of dispatcher.stream(incoming, requests)) {
      sendHeaders()
      yield toBytes(message)
    }
  } catch (error) {
    const { code, details, metadata: sent } = statusOf(error, new GrpcMetadata())
    for (const value of sent.get(DETAILS)) context.trailer.set(DETAILS, value as Buffer)
    throw new ServerError(code as number, details)
  } finally {
    sendHeaders()
    intoNice(incoming.trailers, context.trailer)
  }
}

const DETAILS = 'grpc-status-details-bin'
