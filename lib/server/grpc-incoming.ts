import type { DescMethod } from '@bufbuild/protobuf'
import { type Incoming, Metadata } from './call.js'

/** A call that came in over gRPC. Its signal is made only when somebody asks for it. */
export class GrpcIncoming implements Incoming {
  readonly door = 'grpc'
  readonly headers = new Metadata()
  readonly trailers = new Metadata()
  #controller: AbortController | undefined
  #cancelled = false

  constructor(
    readonly method: DescMethod,
    readonly metadata: Metadata,
    readonly deadline: number | undefined,
    readonly peer: string,
  ) {}

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#cancelled) this.#controller.abort()
    }
    return this.#controller.signal
  }

  /** The caller went away. */
  cancel(): void {
    this.#cancelled = true
    this.#controller?.abort()
  }
}
