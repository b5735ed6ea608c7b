import type { IncomingMessage } from 'node:http'
import type { DescMethod, Message, Registry } from '@bufbuild/protobuf'
import { type Caller, type Incoming, Metadata, type RestOfRequest, type UnaryResponse } from '../call.js'
import type { HeldRequest } from '../bounds/unauthenticated-bytes.js'
import type { Binding } from './routing/bindings.js'
import { deadlineOf, metadataOf } from './http/metadata-of.js'
import { type Content, toContent, withEntity } from './transcode.js'

/** A call over HTTP in the form that the chain receives. */
export class HttpIncoming implements Incoming {
  readonly transport = 'http'
  readonly method: DescMethod
  readonly metadata: Metadata
  readonly deadline: number | undefined
  readonly peer: string
  readonly headers = new Metadata()
  readonly trailers = new Metadata()
  ignoredMask: readonly string[] | undefined = undefined
  rest: RestOfRequest | undefined = undefined
  unreadable: Error | undefined = undefined
  held: HeldRequest | undefined = undefined
  /** The response of a unary call, once it is encoded. */
  content: Content | undefined = undefined

  /**
   * @param message - the request, on which the response may depend.
   * @param forwarded - request headers that become metadata.
   */
  constructor(
    private readonly binding: Binding,
    private readonly message: Message,
    private readonly registry: Registry,
    request: IncomingMessage,
    readonly caller: Caller,
    forwarded: readonly string[],
  ) {
    this.method = binding.method
    this.metadata = metadataOf(request, forwarded)
    this.deadline = deadlineOf(request)
    this.peer = `${request.socket.remoteAddress ?? ''}:${request.socket.remotePort ?? ''}`
  }

  encode(response: UnaryResponse, maxBytes: number): void {
    const { binding, message, registry } = this
    const options = { registry, maxCharacters: maxBytes }
    this.content =
      '$typeName' in response
        ? toContent(binding, message, response, options)
        : withEntity(binding, message, response, options)
  }
}
