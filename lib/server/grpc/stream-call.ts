import { type Metadata as GrpcMetadata, ServerInterceptingCall, status } from '@grpc/grpc-js'
import type { Metadata as NiceMetadata } from 'nice-grpc'
import type { Arrival, OneRequestCall } from './arrival.js'
import { Metadata } from '../../call.js'
import type { ServedMethod } from './grpc-listener.js'
import { hasOneRequest } from './incoming.js'
import { fromGrpc } from './metadata.js'
import type { Listener, NextCall } from './unary.js'

/** The metadata name that identifies a streaming call. grpc-js and nice-grpc pass on only its metadata. */
const TOKEN = 'ashlar-call-bin'
const calls = new WeakMap<Uint8Array, Streamed>()

const NOTHING = Buffer.alloc(0)

/** A streaming call as received, from which its requests are read. */
export interface Streamed {
  readonly arrival: Arrival
  /** The metadata as sent. nice-grpc would join the values of a repeated header. */
  readonly metadata: Metadata
}

/** Returns the call to which the metadata belongs. Its token is removed so that no other code reads it. */
export const takeStreamed = (metadata: NiceMetadata): Streamed => {
  const streamed = calls.get(metadata.get(TOKEN) as Uint8Array)
  metadata.delete(TOKEN)
  return streamed as Streamed
}

/** A streaming call below nice-grpc. nice-grpc sends the responses, but does not read the requests. */
export class StreamCall extends ServerInterceptingCall implements Listener, OneRequestCall, Streamed {
  readonly #call: NextCall
  readonly #method: ServedMethod
  #listener: Listener | undefined
  #metadata = new Metadata()
  /** Response headers that have not been sent yet. */
  #headers: GrpcMetadata | undefined
  #hasResponded = false

  constructor(
    call: NextCall,
    method: ServedMethod,
    readonly arrival: Arrival,
  ) {
    super(call)
    this.#call = call
    this.#method = method
  }

  get metadata(): Metadata {
    return this.#metadata
  }

  override start(listener: Listener): void {
    this.#listener = listener
    this.#call.start(this)
  }

  /** Does nothing: the requests are not read through nice-grpc. */
  override startRead(): void {}

  onReceiveMetadata(metadata: GrpcMetadata): void {
    this.#metadata = fromGrpc(metadata)
    const token = Buffer.alloc(0)
    calls.set(token, this)
    metadata.set(TOKEN, token)
    this.#listener?.onReceiveMetadata(metadata)
    if (hasOneRequest(this.#method.desc)) this.arrival.start(this, this.#method)
    else this.arrival.startStream(this.#method)
  }

  /** Calls nice-grpc's handler, which waits for a request. */
  onReadable(): void {
    this.#listener?.onReceiveMessage(NOTHING)
    this.#listener?.onReceiveHalfClose()
  }

  onReceiveMessage(): void {}

  onReceiveHalfClose(): void {}

  onCancel(): void {
    if (!this.#hasResponded) this.arrival.leave()
    this.arrival.close()
    this.#listener?.onCancel()
  }

  /** Holds the headers back until the first message, or until the stream ends without an error. */
  override sendMetadata(metadata: GrpcMetadata): void {
    this.#headers = metadata
  }

  override sendMessage(...operands: Parameters<NextCall['sendMessage']>): void {
    this.#sendHeaders()
    super.sendMessage(...operands)
  }

  /**
   * Sends an error that occurs before the first message as "Trailers-Only", in one frame with the headers. A
   * client retries only a call without response headers (gRFC A6).
   */
  override sendStatus(given: Parameters<NextCall['sendStatus']>[0]): void {
    this.#hasResponded = true
    if (given.code === status.OK || this.#headers === undefined) {
      this.#sendHeaders()
      return super.sendStatus(given)
    }
    const metadata = this.#headers.clone()
    if (given.metadata) metadata.merge(given.metadata)
    super.sendStatus({ ...given, metadata })
  }

  #sendHeaders(): void {
    if (this.#headers !== undefined) super.sendMetadata(this.#headers)
    this.#headers = undefined
  }
}
