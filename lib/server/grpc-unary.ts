import { type DescMethod, fromBinary, type Message, toBinary } from '@bufbuild/protobuf'
import {
  Metadata as GrpcMetadata,
  ServerInterceptingCall,
  type ServerInterceptor,
  status,
} from '@grpc/grpc-js'
import { AshlarError, CODES, Internal, InvalidArgument } from '../errors.js'
import { toStatusBytes } from '../gateway/error-details.js'
import type { Dispatcher } from './call.js'
import { GrpcIncoming } from './grpc-incoming.js'
import { fromGrpc, toGrpc } from './grpc-metadata.js'

type NextCall = ConstructorParameters<typeof ServerInterceptingCall>[0]
type Listener = Parameters<NextCall['start']>[0]

/**
 * Answers unary calls straight from grpc-js's own event callbacks, before a server framework builds its streams, iterators
 * and contexts for them. Streaming calls go on as they are.
 */
export const unaryInterceptor =
  (methods: ReadonlyMap<string, DescMethod>, dispatcher: Dispatcher): ServerInterceptor =>
  ({ path, requestStream, responseStream }, call) => {
    const method = methods.get(path)
    if (method === undefined || requestStream || responseStream) return new ServerInterceptingCall(call)
    return new UnaryCall(call, method, dispatcher)
  }

/** What a client reads of an error: code, generic text, details. */
export const statusOf = (error: unknown, trailers: GrpcMetadata) => {
  const known = error instanceof AshlarError ? error : new Internal(error)
  if (known.details.length > 0) trailers.set('grpc-status-details-bin', Buffer.from(toStatusBytes(known)))
  return { code: CODES[known.code] as status, details: known.wireMessage, metadata: trailers }
}

/** @throws InvalidArgument when the bytes are no such message. */
export const decode = (method: DescMethod, bytes: Uint8Array) => {
  try {
    return fromBinary(method.input, bytes)
  } catch (error) {
    throw new InvalidArgument('', `the request is not a well-formed ${method.input.typeName}`, error)
  }
}

class UnaryCall extends ServerInterceptingCall implements Listener {
  readonly #call: NextCall
  readonly #method: DescMethod
  readonly #dispatcher: Dispatcher
  #metadata: GrpcMetadata | undefined
  #request: Uint8Array | undefined
  #incoming: GrpcIncoming | undefined
  #ended = false

  constructor(call: NextCall, method: DescMethod, dispatcher: Dispatcher) {
    super(call)
    this.#call = call
    this.#method = method
    this.#dispatcher = dispatcher
  }

  override start(): void {
    this.#call.start(this)
  }

  onReceiveMetadata(metadata: GrpcMetadata): void {
    this.#metadata = metadata
    this.#call.startRead()
  }

  onReceiveMessage(message: Uint8Array): void {
    if (this.#request !== undefined) return this.#refuse('a second request message')
    this.#request = message
    this.#call.startRead()
  }

  onReceiveHalfClose(): void {
    if (this.#request === undefined) return this.#refuse('no request message')
    this.#answer(this.#request)
  }

  onCancel(): void {
    if (!this.#ended) this.#incoming?.caller.leave()
  }

  #answer(bytes: Uint8Array): void {
    const deadline = Number(this.#call.getDeadline())
    const incoming = new GrpcIncoming(
      this.#method,
      fromGrpc(this.#metadata ?? new GrpcMetadata()),
      Number.isFinite(deadline) ? deadline : undefined,
      this.#call.getPeer(),
    )
    this.#incoming = incoming
    const fail = (error: unknown): void => this.#fail(incoming, error)
    const send = (reply: Message): void => {
      try {
        this.#send(incoming, reply)
      } catch (error) {
        fail(error)
      }
    }
    try {
      const reply = this.#dispatcher.unary(incoming, decode(this.#method, bytes))
      if (reply instanceof Promise) reply.then(send, fail)
      else this.#send(incoming, reply)
    } catch (error) {
      fail(error)
    }
  }

  #send({ headers, trailers }: GrpcIncoming, reply: Message): void {
    const { buffer, byteOffset, byteLength } = toBinary(this.#method.output, reply)
    const message = Buffer.from(buffer, byteOffset, byteLength)
    this.#ended = true
    this.#call.sendMetadata(toGrpc(headers))
    this.#call.sendMessage(message, () =>
      this.#call.sendStatus({
        code: status.OK,
        details: 'OK',
        metadata: trailers.isEmpty ? null : toGrpc(trailers),
      }),
    )
  }

  #fail({ headers, trailers }: GrpcIncoming, error: unknown): void {
    this.#ended = true
    this.#call.sendMetadata(toGrpc(headers))
    this.#call.sendStatus(statusOf(error, toGrpc(trailers)))
  }

  #refuse(what: string): void {
    this.#ended = true
    const details = `received ${what} for unary method ${this.#method.name}`
    this.#call.sendStatus({ code: status.UNIMPLEMENTED, details, metadata: null })
  }
}
