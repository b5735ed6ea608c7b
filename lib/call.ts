import type { DescMethod, Message } from '@bufbuild/protobuf'
import type { Principal, RequestContext } from './context.js'
import { type AshlarError, Cancelled } from './errors.js'
import type { Operation } from './gen/google/longrunning/operations_pb.js'

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

  /** The first of these names that has several values. @param names - in lower case. */
  repeatedOf(names: readonly string[]): string | undefined {
    for (const name of names) if ((this.#values.get(name)?.length ?? 0) > 1) return name
    return undefined
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

  delete(name: string): this {
    this.#values.delete(name.toLowerCase())
    return this
  }

  /** Every name with its values. */
  get all(): ReadonlyMap<string, readonly string[]> {
    return this.#values
  }

  /** Every name with each of its values. */
  *entries(): IterableIterator<[string, string]> {
    for (const [name, values] of this.#values) for (const value of values) yield [name, value]
  }
}

/** Whoever made a call: still there, or gone. A signal that says so is made only when somebody asks for it. */
export class Caller {
  /** What the caller was told, if anything: Cancelled unless the listener has ended the call itself. Set by `leave` alone. */
  reason: AshlarError | undefined = undefined
  #controller: AbortController | undefined
  #onGone: (() => void) | undefined

  get isGone(): boolean {
    return this.reason !== undefined
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.isGone) this.#controller.abort()
    }
    return this.#controller.signal
  }

  /** Nothing that the call still says is heard. The first reason counts. */
  leave(reason: AshlarError = new Cancelled()): void {
    if (this.reason !== undefined) return
    this.reason = reason
    this.#controller?.abort()
    this.#onGone?.()
  }

  /** Calls back when the caller goes; there is room for one, and undefined leaves it empty. */
  onGone(callback: (() => void) | undefined): void {
    this.#onGone = callback
  }
}

/** What a listener (gRPC or HTTP) hands to the chain. `headers` and `trailers` are filled for it, also when the call fails. */
export interface Incoming {
  readonly method: DescMethod
  readonly transport: 'grpc' | 'http'
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
  /** Where the body is still to come: the request so far is what path and query say. */
  readonly rest?: RestOfRequest
  /** Why the request cannot be read, which is then an empty one; the call is limited and logged like any other. */
  readonly unreadable?: Error | undefined
  /** Writes the answer of a unary call as it goes out. What it throws is what became of the call. */
  readonly write?: (answer: Message) => void
}

/** A body that is read once the call is let in. */
export interface RestOfRequest {
  /** Whether a field, by its path, has its last value already. */
  knows(field: string): boolean
  read(): Promise<{ readonly request: Message; readonly ignoredMask: readonly string[] }>
}

/** The composed chain with the handlers behind it: the one way in, whatever the listener. Throws or rejects with an `AshlarError`. */
export interface Dispatcher {
  /** Whether it reads `rest`, once a call is let in. Any other is given a rest only where the caller itself waits with it. */
  readonly readsRest?: boolean
  unary(incoming: Incoming, request: Message): Message | Promise<Message>
  /** Streaming of every kind; a single request or response is a stream of one. */
  stream(incoming: Incoming, requests: AsyncIterable<Message>): AsyncIterable<Message>
}

/** What `If-Match` asks for (RFC 9110, AIP-154). */
export interface IfMatch {
  /** `*`: whatever the etag is, as long as the entity exists. */
  readonly any: boolean
  /** Strong etags without their quotes; none of them matches nothing. */
  readonly etags: readonly string[]
}

/** An operation, seen from the work it stands for. */
export interface RunningOperation {
  /** `operations/<id>`. */
  readonly name: string
  /** Aborts when somebody cancels the operation, or the server shuts down. */
  readonly signal: AbortSignal
  /** Says how far the work has come, as a message of the method's metadata type. */
  progress(metadata: Message): Promise<void>
}

/** Does the work; what it returns is the operation's response, nothing is `google.protobuf.Empty`. */
export type OperationWork = (operation: RunningOperation) => Promise<Message | void>

/** Starts long-running operations (AIP-151) on behalf of a call. */
export interface CallOperations {
  /** Starts the work, which goes on when the call has ended, and returns the pending operation at once. */
  start(options: { readonly metadata?: Message }, work: OperationWork): Promise<Operation>
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
  /** Nothing may be written: return what would have been returned (AIP-163). */
  readonly validateOnly: boolean
  /** Mask paths that must write nothing. */
  readonly ignoredMask: readonly string[]
  /** Starts long-running operations. */
  readonly operations: CallOperations
}
