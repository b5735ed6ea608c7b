import { type Metadata as GrpcMetadata, ServerInterceptingCall, status } from '@grpc/grpc-js'
import type { Metadata as NiceMetadata } from 'nice-grpc'
import type { Arrival, OneRequestCall } from './arrival.js'
import { Metadata } from '../../call.js'
import type { ServedMethod } from './grpc-listener.js'
import { hasOneRequest } from './incoming.js'
import { fromGrpc } from './metadata.js'
import type { Listener, NextCall } from './unary.js'

/** Identifies a streaming call on its way through grpc-js and nice-grpc, which pass on only its metadata. */
const TOKEN = 'ashlar-call-bin'
const calls = new WeakMap<Uint8Array, Streamed>()

const NOTHING = Buffer.alloc(0)

/** A streaming call as it came, from which its requests are read. */
export interface Streamed {
  readonly arrival: Arrival
  /** As sent: nice-grpc joins the values of a repeated header. */
  readonly metadata: Metadata
}

/** The call of this metadata. Its token is removed, so that no other code sees it. */
export const takeStreamed = (metadata: NiceMetadata): Streamed => {
  const streamed = calls.get(metadata.get(TOKEN) as Uint8Array)
  metadata.delete(TOKEN)
  return streamed as Streamed
}

/** A streaming call below nice-grpc, which sends the responses of all of them and reads no request. */
export class StreamCall extends ServerInterceptingCall implements Listener, OneRequestCall, Streamed {
  readonly #call: NextCall
  readonly #method: ServedMethod
  #listener: Listener | undefined
  #metadata = new Metadata()
  /** Response headers that are not sent yet. */
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

  /** The requests are not read through nice-grpc. */
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

  /** Calls nice-grpc's handler, which must be notified of a request. */
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

  /** Before the first message, or an end without an error. */
  override sendMetadata(metadata: GrpcMetadata): void {
    this.#headers = metadata
  }

  override sendMessage(...operands: Parameters<NextCall['sendMessage']>): void {
    this.#sendHeaders()
    super.sendMessage(...operands)
  }

  /**
   * An error before the first message is one frame with the headers in it, "Trailers-Only": a client retries
   * only a call without response headers (gRFC A6).
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
