import { Metadata as GrpcMetadata, ServerInterceptingCall } from '@grpc/grpc-js'
import type { Metadata as NiceMetadata } from 'nice-grpc'
import { type AshlarError, Cancelled } from '../../errors.js'
import { type Arrival, cutRequest } from './arrival.js'
import { Metadata } from '../../call.js'
import { fromGrpc } from './metadata.js'
import { type Listener, type NextCall, statusOf } from './unary.js'

/** Identifies a streaming call on its way through grpc-js and nice-grpc, which pass on only its metadata. */
const TOKEN = 'ashlar-call-bin'
const calls = new WeakMap<Uint8Array, Streamed>()

/**
 * A client on Node half-closes a stream that it cancels, and resets it in a separate packet right after. An end counts
 * when no reset follows: nothing in the half-close tells the two apart.
 */
const RESET_FOLLOWS_MS = 2

/** What grpc-js has received of the requests of a streaming call. */
export interface Streamed {
  readonly arrival: Arrival
  /** As sent: nice-grpc joins the values of a repeated header. */
  readonly metadata: Metadata
  /** The error when the caller did not finish its requests, after `read` of them were read and no more come. */
  problemAfter(read: number): AshlarError | undefined
}

/** The call of this metadata. Its token is removed, so that no other code sees it. */
export const takeStreamed = (metadata: NiceMetadata): Streamed => {
  const streamed = calls.get(metadata.get(TOKEN) as Uint8Array)
  metadata.delete(TOKEN)
  return streamed as Streamed
}

/** Watches a streaming call below nice-grpc, which takes a broken stream for one that has ended. */
export class StreamCall extends ServerInterceptingCall implements Listener, Streamed {
  readonly #call: NextCall
  readonly #isSingle: boolean
  #listener: Listener | undefined
  #metadata = new Metadata()
  #received = 0
  #hasEnded = false
  #hasResponded = false

  /** @param isSingle - one request, which is complete before the handler is called. */
  constructor(
    call: NextCall,
    readonly arrival: Arrival,
    isSingle: boolean,
  ) {
    super(call)
    this.#call = call
    this.#isSingle = isSingle
  }

  problemAfter(read: number): AshlarError | undefined {
    if (this.#hasEnded && this.arrival.isCut) return cutRequest()
    return this.#hasEnded && read === this.#received ? undefined : new Cancelled()
  }

  get metadata(): Metadata {
    return this.#metadata
  }

  override start(listener: Listener): void {
    this.#listener = listener
    this.#call.start(this)
  }

  onReceiveMetadata(metadata: GrpcMetadata): void {
    this.#metadata = fromGrpc(metadata)
    const token = Buffer.alloc(0)
    calls.set(token, this)
    metadata.set(TOKEN, token)
    this.#listener?.onReceiveMetadata(metadata)
  }

  onReceiveMessage(message: unknown): void {
    this.#received++
    this.#listener?.onReceiveMessage(message)
  }

  onReceiveHalfClose(): void {
    if (this.#isSingle) this.#end()
    else setTimeout(() => this.#end(), RESET_FOLLOWS_MS)
  }

  onCancel(): void {
    if (!this.#hasResponded) this.arrival.leave()
    this.#listener?.onCancel()
  }

  override sendStatus(status: Parameters<NextCall['sendStatus']>[0]): void {
    this.#hasResponded = true
    super.sendStatus(status)
  }

  #end(): void {
    if (this.arrival.isReset) return
    this.#hasEnded = true
    if (this.#isSingle && this.arrival.isCut)
      return this.sendStatus(statusOf(cutRequest(), new GrpcMetadata()))
    this.#listener?.onReceiveHalfClose()
  }
}
