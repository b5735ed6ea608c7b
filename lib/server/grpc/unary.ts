import { create, type DescMethod, fromBinary, type Message } from '@bufbuild/protobuf'
import { Metadata as GrpcMetadata, ServerInterceptingCall, status } from '@grpc/grpc-js'
import { AshlarError, CODES, Internal, InvalidArgument, Unimplemented } from '../../errors.js'
import { toStatusBytes } from '../../error-details.js'
import type { Dispatcher } from '../../call.js'
import { type Arrival, cutRequest } from './arrival.js'
import { GrpcIncoming } from './incoming.js'
import { fromGrpc, toGrpc } from './metadata.js'
import { requestIdFrom } from '../../text/request-id.js'

export type NextCall = ConstructorParameters<typeof ServerInterceptingCall>[0]
export type Listener = Parameters<NextCall['start']>[0]

/** What a client receives of an error: code, generic text, details. */
export const statusOf = (error: unknown, trailers: GrpcMetadata) => {
  const known = error instanceof AshlarError ? error : new Internal(error)
  if (known.details.length > 0) trailers.set('grpc-status-details-bin', Buffer.from(toStatusBytes(known)))
  return { code: CODES[known.code] as status, details: known.wireMessage, metadata: trailers }
}

/** What a caller is told whose bytes are no message of the method. */
export const malformed = ({ input }: DescMethod, error: unknown): InvalidArgument =>
  new InvalidArgument('', `the request is not a well-formed ${input.typeName}`, error)

/**
 * A unary call that responds directly from grpc-js's event callbacks, before a server framework builds its streams,
 * iterators and contexts for it.
 */
export class UnaryCall extends ServerInterceptingCall implements Listener {
  readonly #call: NextCall
  readonly #method: DescMethod
  readonly #dispatcher: Dispatcher
  readonly #arrival: Arrival
  #metadata: GrpcMetadata | undefined
  #request: Uint8Array | undefined
  #ended = false

  constructor(call: NextCall, method: DescMethod, dispatcher: Dispatcher, arrival: Arrival) {
    super(call)
    this.#call = call
    this.#method = method
    this.#dispatcher = dispatcher
    this.#arrival = arrival
  }

  override start(): void {
    this.#call.start(this)
  }

  onReceiveMetadata(metadata: GrpcMetadata): void {
    this.#metadata = metadata
    this.#call.startRead()
  }

  onReceiveMessage(message: Uint8Array): void {
    if (this.#request !== undefined) return this.#refuse(unfit('a second request message', this.#method))
    this.#request = message
    this.#call.startRead()
  }

  onReceiveHalfClose(): void {
    if (this.#arrival.isReset) return
    if (this.#arrival.isCut) return this.#refuse(cutRequest())
    if (this.#request === undefined) return this.#refuse(unfit('no request message', this.#method))
    this.#respond(this.#request)
  }

  /** The end of every call. */
  onCancel(): void {
    if (!this.#ended) this.#arrival.leave()
    // Node's table of a session's streams can hold an ended stream until the next collection of the old generation. What
    // listens to the stream, and with it all of the call, must not stay as long.
    this.#arrival.stream.removeAllListeners('data').removeAllListeners('end')
  }

  #respond(bytes: Uint8Array): void {
    const metadata = fromGrpc(this.#metadata ?? new GrpcMetadata())
    const incoming = new GrpcIncoming(this.#method, metadata, this.#arrival, this.#call.getPeer())
    const fail = (error: unknown): void => this.#fail(incoming, error)
    const send = (): void => {
      const { headers, trailers, bytes } = incoming
      try {
        const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
        this.#ended = true
        this.#call.sendMetadata(toGrpc(headers))
        this.#call.sendMessage(message, sent)
        // Right behind the message, and not when it has left: both go out in one write.
        this.#call.sendStatus({ code: status.OK, details: 'OK', metadata: toGrpc(trailers) })
      } catch (error) {
        fail(error)
      }
    }
    let request: Message
    try {
      request = fromBinary(this.#method.input, bytes)
    } catch (error) {
      incoming.unreadable = malformed(this.#method, error)
      request = create(this.#method.input)
    }
    try {
      const reply = this.#dispatcher.unary(incoming, request)
      if (reply instanceof Promise) reply.then(send, fail)
      else send()
    } catch (error) {
      fail(error)
    }
  }

  #fail({ headers, trailers }: GrpcIncoming, error: unknown): void {
    this.#ended = true
    this.#call.sendMetadata(toGrpc(headers))
    this.#call.sendStatus(statusOf(error, toGrpc(trailers)))
  }

  #refuse(error: AshlarError): void {
    this.#ended = true
    const [given] = this.#metadata?.get('x-request-id') ?? []
    const headers = new GrpcMetadata()
    headers.set('x-request-id', requestIdFrom(given?.toString()))
    this.#call.sendMetadata(headers)
    this.#call.sendStatus(statusOf(error, new GrpcMetadata()))
  }
}

/** grpc-js tells here that it has handed the message over; there is nothing left to do. */
const sent = (): void => {}

const unfit = (what: string, { name }: DescMethod): AshlarError =>
  new Unimplemented(`received ${what} for unary method ${name}`)
