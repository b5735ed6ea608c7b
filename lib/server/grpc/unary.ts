import { Metadata as GrpcMetadata, ServerInterceptingCall, status } from '@grpc/grpc-js'
import { AshlarError, CODES, Internal } from '../../errors.js'
import { toStatusBytes } from '../../error-details.js'
import type { Dispatcher } from '../../call.js'
import type { Arrival, OneRequestCall } from './arrival.js'
import type { ServedMethod } from './grpc-listener.js'
import { GrpcIncoming } from './incoming.js'
import { fromGrpc, toGrpc } from './metadata.js'

export type NextCall = ConstructorParameters<typeof ServerInterceptingCall>[0]
export type Listener = Parameters<NextCall['start']>[0]

/** Returns the part of an error that a client receives: code, public message and details. */
export const statusOf = (error: unknown, trailers: GrpcMetadata) => {
  const known = error instanceof AshlarError ? error : new Internal(error)
  if (known.details.length > 0) trailers.set('grpc-status-details-bin', Buffer.from(toStatusBytes(known)))
  return { code: CODES[known.code] as status, details: known.wireMessage, metadata: trailers }
}

/**
 * A unary call that responds directly from the events of its stream. This avoids the streams, iterators and
 * contexts that a server framework creates for a call. The order of calls is:
 *
 * 1. `Admission`, a hook of grpc-js, rejects the call by its headers or creates the `Arrival`, available as
 *   `admission.latest` for the rest of the turn.
 * 2. The interceptor of `GrpcListener`, in the same turn, creates this call with that arrival.
 * 3. `start`, then `onReceiveMetadata`: the arrival starts reading the request in place of grpc-js.
 * 4. `onReadable`, called by the arrival when the request is complete, too large to be read before
 *   authentication, or unreadable. Creates the `GrpcIncoming` and calls the dispatcher.
 * 5. `send` or `#fail`, when the dispatcher has returned or thrown.
 * 6. `onCancel`, always: ends the arrival.
 */
export class UnaryCall extends ServerInterceptingCall implements Listener, OneRequestCall {
  readonly #call: NextCall
  readonly #method: ServedMethod
  readonly #dispatcher: Dispatcher
  readonly #arrival: Arrival
  #metadata: GrpcMetadata | undefined
  #ended = false

  constructor(call: NextCall, method: ServedMethod, dispatcher: Dispatcher, arrival: Arrival) {
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
    this.#arrival.start(this, this.#method)
  }

  /** Does nothing: grpc-js reads no request. */
  onReceiveMessage(): void {}

  onReceiveHalfClose(): void {}

  onCancel(): void {
    if (!this.#ended) this.#arrival.leave()
    this.#arrival.close()
  }

  onReadable(): void {
    const metadata = fromGrpc(this.#metadata ?? new GrpcMetadata())
    const incoming = new GrpcIncoming(
      this.#method.desc,
      metadata,
      this.#arrival,
      this.#call.getPeer(),
      this.#dispatcher.limits,
    )
    incoming.rest = incoming
    const fail = (error: unknown): void => this.#fail(incoming, error)
    const send = (): void => {
      const { headers, trailers, bytes } = incoming
      try {
        const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
        this.#ended = true
        this.#call.sendMetadata(toGrpc(headers))
        this.#call.sendMessage(message, sent)
        // Sent without waiting for the message, so that both go out in one write.
        this.#call.sendStatus({ code: status.OK, details: 'OK', metadata: toGrpc(trailers) })
      } catch (error) {
        fail(error)
      }
    }
    try {
      const reply = this.#dispatcher.unary(incoming, undefined)
      if (reply instanceof Promise) reply.then(send, fail)
      else send()
    } catch (error) {
      fail(error)
    }
  }

  /**
   * Sends the error as "Trailers-Only", in one frame with the headers. A client retries only a call without
   * response headers (gRFC A6).
   */
  #fail({ headers, trailers }: GrpcIncoming, error: unknown): void {
    this.#ended = true
    const metadata = toGrpc(headers)
    metadata.merge(toGrpc(trailers))
    this.#call.sendStatus(statusOf(error, metadata))
  }
}

/** grpc-js calls this after sending the message. There is nothing left to do. */
const sent = (): void => {}
