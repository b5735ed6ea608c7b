import type { DescMethod, Message } from '@bufbuild/protobuf'
import type { Principal, RequestContext } from '../context.js'
import type { CallOperations } from './operation-runner.js'

/** Names are lower-case; a name may have several values. Names ending in `-bin` hold base64 text. */
export class Metadata {
  readonly #values = new Map<string, string[]>()

  constructor(entries: Iterable<readonly [string, string]> = []) {
    for (const [name, value] of entries) this.append(name, value)
  }

  /** The first value. */
  get(name: string): string | undefined {
    return this.#values.get(name.toLowerCase())?.[0]
  }

  getAll(name: string): readonly string[] {
    return this.#values.get(name.toLowerCase()) ?? []
  }

  set(name: string, value: string): this {
    this.#values.set(name.toLowerCase(), [value])
    return this
  }

  append(name: string, value: string): this {
    const key = name.toLowerCase()
    const values = this.#values.get(key)
    if (values === undefined) this.#values.set(key, [value])
    else values.push(value)
    return this
  }

  get isEmpty(): boolean {
    return this.#values.size === 0
  }

  delete(name: string): this {
    this.#values.delete(name.toLowerCase())
    return this
  }

  /** Every name with each of its values. */
  *entries(): IterableIterator<[string, string]> {
    for (const [name, values] of this.#values) for (const value of values) yield [name, value]
  }
}

/** Whoever made a call: still there, or gone. A signal that says so is made only when somebody asks for it. */
export class Caller {
  readonly #given: AbortSignal | undefined
  #controller: AbortController | undefined
  #hasLeft = false
  #onGone: (() => void) | undefined

  /** @param given - aborts when the caller goes; without it, `leave` says so. */
  constructor(given?: AbortSignal) {
    this.#given = given
  }

  get isGone(): boolean {
    return this.#hasLeft || this.#given?.aborted === true
  }

  get signal(): AbortSignal {
    if (this.#given !== undefined) return this.#given
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#hasLeft) this.#controller.abort()
    }
    return this.#controller.signal
  }

  leave(): void {
    this.#hasLeft = true
    this.#controller?.abort()
    this.#onGone?.()
  }

  /** Calls back when the caller goes; there is room for one, and undefined leaves it empty. */
  onGone(callback: (() => void) | undefined): void {
    if (this.#onGone !== undefined) this.#given?.removeEventListener('abort', this.#onGone)
    this.#onGone = callback
    if (callback !== undefined) this.#given?.addEventListener('abort', callback, { once: true })
  }
}

/** What a door (gRPC or HTTP) hands to the chain. `headers` and `trailers` are filled for it, also when the call fails. */
export interface Incoming {
  readonly method: DescMethod
  readonly door: 'grpc' | 'http'
  readonly metadata: Metadata
  readonly caller: Caller
  /** The caller's own deadline, in milliseconds since the epoch. */
  readonly deadline: number | undefined
  /** Address of the caller, for the log. */
  readonly peer: string
  /** What is sent before the answer, such as `x-request-id`. */
  readonly headers: Metadata
  /** What is sent behind it, such as `etag`. */
  readonly trailers: Metadata
  /** Mask paths the gateway found in a spelling it must not apply; they write nothing. */
  readonly ignoredMask?: readonly string[]
}

/** The composed chain with the handlers behind it: the one way in, whatever the door. Throws or rejects with an `AshlarError`. */
export interface Dispatcher {
  unary(incoming: Incoming, request: Message): Message | Promise<Message>
  /** Streaming of every kind; a single request or response is a stream of one. */
  stream(incoming: Incoming, requests: AsyncIterable<Message>): AsyncIterable<Message>
}

/** What `If-Match` asks for (RFC 9110, AIP-154). */
export interface IfMatch {
  /** `*`: whatever the etag is, as long as the entity exists. */
  readonly any: boolean
  /** Strong etags without their quotes; a weak one never matches and is kept as it was written. */
  readonly etags: readonly string[]
}

/** What a handler is told about its call. */
export interface ServerCall {
  /** `/package.Service/Method`. */
  readonly path: string
  readonly requestId: string
  readonly principal: Principal
  /** What repositories take as `{ context }`; the current one while a handler runs. */
  readonly context: RequestContext
  readonly metadata: Metadata
  readonly headers: Metadata
  readonly trailers: Metadata
  /** Aborts when the caller went away or the deadline passed. */
  readonly signal: AbortSignal
  /** Milliseconds since the epoch; undefined when nothing bounds the call. */
  readonly deadline: number | undefined
  readonly peer: string
  readonly ifMatch: IfMatch | undefined
  /** Nothing may be written: answer what would have been answered (AIP-163). */
  readonly validateOnly: boolean
  /** Mask paths that must write nothing. */
  readonly ignoredMask: readonly string[]
  /** Starts long-running operations. */
  readonly operations: CallOperations
}
