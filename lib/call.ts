import type { DescMethod, Message } from '@bufbuild/protobuf'
import type { Principal, RequestContext } from './context.js'
import { type AshlarError, Cancelled } from './errors.js'
import type { JsonWriteOptions } from './gateway/json/writer.js'
import type { MessageLimits } from './resource/messages/message-limits.js'
import type { HeldRequest } from './bounds/unauthenticated-bytes.js'
import type { Operation } from 'ashlar-annotations/google/longrunning/operations_pb.js'

/** Names are lower-case; a name may have several values. Names ending in `-bin` hold base64 text. */
export class Metadata {
  private readonly values = new Map<string, string[]>()
  /** Every name with its values. */
  readonly all: ReadonlyMap<string, readonly string[]> = this.values

  constructor(entries: Iterable<readonly [string, string]> = []) {
    for (const [name, value] of entries) this.append(name, value)
  }

  /** The first value. */
  get(name: string): string | undefined {
    return this.values.get(name.toLowerCase())?.[0]
  }

  /** All values of a name, in their order. */
  getAll(name: string): readonly string[] {
    return this.values.get(name.toLowerCase()) ?? []
  }

  /** The first of these names that has several values. @param names - in lower case. */
  repeatedOf(names: readonly string[]): string | undefined {
    for (const name of names) if ((this.values.get(name)?.length ?? 0) > 1) return name
    return undefined
  }

  /** Replaces the values of a name by this one. */
  set(name: string, value: string): this {
    this.values.set(name.toLowerCase(), [value])
    return this
  }

  /** Adds a value to those that the name has. */
  append(name: string, value: string): this {
    const key = name.toLowerCase()
    const values = this.values.get(key)
    if (values === undefined) this.values.set(key, [value])
    else values.push(value)
    return this
  }

  /** Removes all values of a name. */
  delete(name: string): this {
    this.values.delete(name.toLowerCase())
    return this
  }

  /** Every name with each of its values. */
  *entries(): IterableIterator<[string, string]> {
    for (const [name, values] of this.values) for (const value of values) yield [name, value]
  }
}

/** The caller of a call: still connected, or gone. Its abort signal is created only when it is used. */
export class Caller {
  /**
   * The error that the caller received, if any: Cancelled unless the listener has ended the call itself. Only
   * `leave` sets it.
   */
  reason: AshlarError | undefined = undefined
  private controller: AbortController | undefined = undefined
  private callback: (() => void) | undefined = undefined

  get isGone(): boolean {
    return this.reason !== undefined
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController()
      if (this.isGone) this.controller.abort()
    }
    return this.controller.signal
  }

  /** Nothing more is sent to the caller. The first reason counts. */
  leave(reason: AshlarError = new Cancelled()): void {
    if (this.reason !== undefined) return
    this.reason = reason
    this.controller?.abort()
    this.callback?.()
  }

  /** Calls back when the caller leaves. It holds one callback; undefined removes it. */
  onGone(callback: (() => void) | undefined): void {
    this.callback = callback
  }
}

/**
 * The request as a listener (gRPC or HTTP) passes it to the dispatcher, which makes a `Call` of it. The chain
 * fills `headers` and `trailers`, also when the call fails.
 */
export interface Incoming {
  readonly method: DescMethod
  readonly transport: 'grpc' | 'http'
  readonly metadata: Metadata
  readonly caller: Caller
  /** The caller's deadline, in milliseconds since the epoch. */
  readonly deadline: number | undefined
  /**
   * The time at which the request began to arrive, in milliseconds since the epoch; the timeout of its method
   * counts from then on. Default: the time at which the dispatcher is called.
   */
  readonly since?: number
  /** Address of the caller, for the log. */
  readonly peer: string
  /** Metadata to send before the response, such as `x-request-id`. */
  readonly headers: Metadata
  /** Metadata to send after it, such as `etag`. */
  readonly trailers: Metadata
  /** Mask paths in a form that the gateway must not apply; they write nothing. */
  readonly ignoredMask?: readonly string[] | undefined
  /**
   * Set when the request, or its body, is not read yet: the request so far has the fields of path and query,
   * if any.
   */
  readonly rest?: RestOfRequest | undefined
  /**
   * Why the request cannot be read. The request is then empty; the call is limited and logged like any other.
   */
  readonly unreadable?: Error | undefined
  /** The part of the request in memory; omitted if it has no body. */
  readonly held?: HeldRequest | undefined
  /**
   * Encodes the response of a unary call as its caller reads it, and keeps that: the listener sends it when
   * the call has ended. An error that it throws is the result of the call.
   * @throws ResourceExhausted for more bytes, or characters of JSON, than the limit, soon after writing has
   * reached it.
   */
  encode(response: UnaryResponse, maxBytes: number): void
}

/** The response to a unary call: a message, or what becomes one where it has to. */
export type UnaryResponse = Message | EntityResponse

/** A response that is what a repository has returned, and no message yet. */
export interface EntityResponse {
  readonly message: Message
  /**
   * Its bytes in the wire format of protobuf.
   * @throws Error for a value that they cannot hold, ResourceExhausted for more than `maxBytes`.
   */
  bytes(maxBytes: number): Uint8Array
  /**
   * Its proto3 JSON.
   * @throws RangeError naming the field for a value that JSON cannot hold, ResourceExhausted for a text that
   * is too long.
   */
  json(options: JsonWriteOptions): string
}

/** The part of a request that is read after authorization, if its rule does not need it. */
export interface RestOfRequest {
  /** True if a field, by its path, already has its final value. */
  knows(field: string): boolean
  /** Inflates and decodes it. */
  read(): WholeRequest | Promise<WholeRequest>
}

/** A request of which nothing is left to read. */
export interface WholeRequest {
  readonly request: Message
  readonly ignoredMask: readonly string[]
}

/**
 * The composed chain with its handlers: the single entry for both listeners. Throws or rejects with an
 * `AshlarError`.
 */
export interface Dispatcher {
  /** Listeners apply them, but for the response of a unary call, which the dispatcher checks. */
  readonly limits: MessageLimits
  /**
   * Has `incoming` encode the response.
   * @param request - as far as it is read; undefined where all of it is the rest.
   * @returns a promise of the end of the call; undefined where it has ended.
   */
  unary(incoming: Incoming, request: Message | undefined): Promise<unknown> | undefined
  /**
   * Streaming of every kind; a single request or response is a stream of one.
   * @param requests - undefined for a single request of which all is the rest.
   */
  stream(incoming: Incoming, requests: AsyncIterable<Message> | undefined): AsyncIterable<Message>
}

/** The condition of `If-Match` (RFC 9110, AIP-154). */
export interface IfMatch {
  /** `*`: any etag, as long as the entity exists. */
  readonly any: boolean
  /** Strong etags without their quotes; an empty list matches nothing. */
  readonly etags: readonly string[]
}

/** An operation as its work sees it. */
export interface RunningOperation {
  /** `operations/<id>`. */
  readonly name: string
  /** Aborts when the operation is cancelled, or the server shuts down. */
  readonly signal: AbortSignal
  /** Reports progress, as a message of the method's metadata type. */
  progress(metadata: Message): Promise<void>
}

/** Does the work. Its result is the operation's response; undefined becomes `google.protobuf.Empty`. */
export type OperationWork = (operation: RunningOperation) => Promise<Message | void>

/** Starts long-running operations (AIP-151) on behalf of a call. */
export interface CallOperations {
  /** Starts the work, which continues after the call has ended, and returns the pending operation at once. */
  start(options: { readonly metadata?: Message }, work: OperationWork): Promise<Operation>
}

/** The operations of a repository that a restricted call may use. */
export type RestrictedOperations<R> = Pick<
  R,
  Extract<
    keyof R,
    | ('model' | 'get' | 'list' | 'count' | 'exists' | 'batchGet' | 'create' | 'update' | 'delete')
    | ('modify' | 'undelete' | 'batchUpdate' | 'batchDelete' | 'transaction')
  >
>

/** The properties of a call that its handler can use. */
export interface ServerCall {
  /** `/package.Service/Method`. */
  readonly path: string
  readonly requestId: string
  readonly principal: Principal
  /** The context to pass to repositories as `{ context }`. It is the current context while a handler runs. */
  readonly context: RequestContext
  readonly metadata: Metadata
  readonly headers: Metadata
  readonly trailers: Metadata
  /** Aborts when the client disconnects or the deadline passes. */
  readonly signal: AbortSignal
  /** Milliseconds since the epoch; undefined when the call has no deadline. */
  readonly deadline: number | undefined
  readonly peer: string
  readonly ifMatch: IfMatch | undefined
  /** Write nothing: return what would have been returned (AIP-163). */
  readonly validateOnly: boolean
  /** Mask paths that must write nothing. */
  readonly ignoredMask: readonly string[]
  /**
   * The repository as this call may use it. If the authorizer decides by row, it reaches the rows that both
   * the decision about the call and that about `get` allow; otherwise it is the repository itself. If the
   * rule of the call names another resource, the authorizer decides about the Get of the repository's own
   * resource. Functions without `supportsRowAccess`, and streams, have it too.
   * @throws TypeError in a public method, if the authorizer decides by row.
   */
  restricted<R extends object>(repository: R): RestrictedOperations<R>
  /** Starts long-running operations. */
  readonly operations: CallOperations
}
