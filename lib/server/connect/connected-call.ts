import type { ContextKey, HandlerContext, MethodImpl } from '@connectrpc/connect'
import type { DescMethod, Message } from '@bufbuild/protobuf'
import { errorForLog } from '../../faults/driver-fault.js'
import { Internal, ResourceExhausted } from '../../errors.js'
import type { Dispatcher, Incoming, Metadata } from '../../call.js'
import { isSendable } from '../../gateway/http/metadata-of.js'
import { pathOf } from '../chain/method.js'
import type { Logger } from '../observability/logger.js'
import { toConnectError } from './connect-error.js'
import type { ConnectPackage } from './load-connect.js'
import type { WireFormat } from './wire-format.js'

export interface ConnectedCall {
  readonly incoming: Incoming
  /** The request. The Connect package receives an empty message instead. */
  readonly message: Message
  readonly format: WireFormat
  readonly responded: Responded
}

/** The response of a unary call, once it is available. */
export interface Responded {
  message: Message | undefined
}

export interface Calling {
  readonly connect: ConnectPackage
  readonly dispatcher: Dispatcher
  readonly logger: Logger
  /** The key under which the package's context stores the call. */
  readonly key: ContextKey<ConnectedCall | undefined>
  /** The names of the metadata that are sent before and after the response. */
  readonly sent: { readonly headers: readonly string[]; readonly trailers: readonly string[] }
  /**
   * Returns a message that can be written as JSON, so that an unreadable part does not fail the whole
   * response.
   */
  readonly readable: (method: DescMethod, message: Message) => Message
  /**
   * Checks that a message can be written. Otherwise the package would report the failure to the caller
   * without logging it.
   * @throws for a value that its field cannot contain, and ResourceExhausted if there are too many bytes or
   *   characters.
   */
  readonly write: (method: DescMethod, message: Message, format: WireFormat, maxBytes: number) => void
}

/** Returns the implementation that the package calls. It runs the chain in this process. */
export const implementationOf = (calling: Calling, method: DescMethod): MethodImpl<DescMethod> =>
  (method.methodKind === 'unary'
    ? (_: Message, context: HandlerContext) => unary(calling, method, context)
    : (_: Message, context: HandlerContext) => stream(calling, method, context)) as MethodImpl<DescMethod>

const unary = async (calling: Calling, method: DescMethod, context: HandlerContext): Promise<Message> => {
  const { connect, dispatcher, key, sent, readable } = calling
  const { incoming, message, format, responded } = context.values.get(key) as ConnectedCall
  try {
    await dispatcher.unary(incoming, message)
    const response = responded.message as Message
    return format.isJson ? readable(method, response) : response
  } catch (error) {
    throw toConnectError(connect, error, format)
  } finally {
    copy(incoming.headers, sent.headers, context.responseHeader)
    copy(incoming.trailers, sent.trailers, context.responseTrailer)
  }
}

async function* stream(
  calling: Calling,
  method: DescMethod,
  context: HandlerContext,
): AsyncIterable<Message> {
  const { connect, dispatcher, key, sent, write, readable, logger } = calling
  const { incoming, message, format } = context.values.get(key) as ConnectedCall
  let areHeadersSent = false
  const sendHeaders = () => {
    if (!areHeadersSent) copy(incoming.headers, sent.headers, context.responseHeader)
    areHeadersSent = true
  }
  try {
    for await (const each of dispatcher.stream(incoming, only(message))) {
      try {
        write(method, each, format, dispatcher.limits.maxResponseBytes)
      } catch (error) {
        if (error instanceof ResourceExhausted) {
          incoming.caller.leave(error)
          throw error
        }
        const requestId = incoming.headers.get('x-request-id')
        logger.error({ requestId, method: pathOf(method), err: errorForLog(error) }, 'call failed')
        const internal = new Internal(error)
        // Reports the error that the caller receives to the call's log.
        incoming.caller.leave(internal)
        throw internal
      }
      sendHeaders()
      yield format.isJson ? readable(method, each) : each
    }
  } catch (error) {
    throw toConnectError(connect, error, format)
  } finally {
    sendHeaders()
    copy(incoming.trailers, sent.trailers, context.responseTrailer)
  }
}

/** Yields a single request as a stream. */
async function* only(message: Message): AsyncIterable<Message> {
  yield await Promise.resolve(message)
}

const copy = (from: Metadata, names: readonly string[], to: Headers): void => {
  for (const name of names)
    for (const value of from.getAll(name)) if (isSendable(value)) to.append(name, value)
}
