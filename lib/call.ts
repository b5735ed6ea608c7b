import type { DescMethod, Message } from '@bufbuild/protobuf'
import type { Principal, RequestContext } from './context.js'
import { type AshlarError, Cancelled } from './errors.js'
import type { JsonWriteOptions } from './gateway/json/writer.js'
import type { MessageLimits } from './resource/messages/message-limits.js'
import type { HeldRequest } from './bounds/unauthenticated-bytes.js'
import type { Operation } from 'ashlar-annotations/google/longrunning/operations_pb.js'

/**
 * Metadata of a call. Names are in lower case and may have several values. Values of names that end in `-bin`
 * are base64.
 */
export class Metadata {
  private readonly values = new Map<string, string[]>()
  /** Every name with its values. */
  readonly all: ReadonlyMap<string, readonly string[]> = this.values

  constructor(entries: Iterable<readonly [string, string]> = []) {
    for (const [name, value] of entries) this.append(name, value)
  }

  /** Returns the first value. */
  get(name: string): string | undefined {
    return this.values.get(name.toLowerCase())?.[0]
  }

  /** Returns all values of a name, in order. */
  getAll(name: string): readonly string[] {
    return this.values.get(name.toLowerCase()) ?? []
  }

  /**
   * Returns the first of these names that has several values.
   * @param names - in lower case.
   */
  repeatedOf(names: readonly string[]): string | undefined {
    for (const name of names) if ((this.values.get(name)?.length ?? 0) > 1) return name
    return undefined
  }

  /** Sets the only value of a name. */
  set(name: string, value: string): this {
    this.values.set(name.toLowerCase(), [value])
    return this
  }

  /** Adds a value to a name. */
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

  /** Iterates over all values with their names. */
  *entries(): IterableIterator<[string, string]> {
    for (const [name, values] of this.values) for (const value of values) yield [name, value]
  }
}

/** The caller of a call, which may disconnect. Its abort signal is created only when it is used. */
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

  /** Ends the connection to the caller, to whom nothing more is sent. Only the first reason is used. */
  leave(reason: AshlarError = new Cancelled()): void {
    if (this.reason !== undefined) return
    this.reason = reason
    this.controller?.abort()
    this.callback?.()
  }

  /** Sets the callback for the caller's disconnect; undefined removes it. */
  onGone(callback: (() => void) | undefined): void {
    this.callback = callback
  }
}

/**
 * A request in the form that a listener (gRPC or HTTP) passes to the dispatcher, which creates a `Call` from
 * it. The chain fills `headers` and `trailers`, also if the call fails.
 */
export interface Incoming {
  readonly method: DescMethod
  readonly transport: 'grpc' | 'http'
  readonly metadata: Metadata
  readonly caller: Caller
  /** The caller's deadline, in milliseconds since the epoch. */
  readonly deadline: number | undefined
  /**
   * The time at which the request began to arrive, in milliseconds since the epoch. The method's timeout
   * starts then. Default: the time at which the dispatcher is called.
   */
  readonly since?: number
  /** The address of the caller, for the log. */
  readonly peer: string
  /** Metadata to send before the response, such as `x-request-id`. */
  readonly headers: Metadata
  /** Metadata to send after the response, such as `etag`. */
  readonly trailers: Metadata
  /** Mask paths in a format that the gateway must not apply. They write nothing. */
  readonly ignoredMask?: readonly string[] | undefined
  /**
   * Set if the request or its body has not been read yet. The message then contains only the fields of path
   * and query, if any.
   */
  readonly rest?: RestOfRequest | undefined
  /**
   * The reason why the request cannot be read. The message is then empty, but the call is rate-limited and
   * logged like any other.
   */
  readonly unreadable?: Error | undefined
  /** The part of the request in memory; omitted if it has no body. */
  readonly held?: HeldRequest | undefined
  /**
   * Encodes the response of a unary call in the caller's format and stores it. The listener sends it when the
   * call has ended. An error becomes the result of the call.
   * @throws ResourceExhausted soon after writing exceeds the limit, in bytes or in characters of JSON.
   */
  encode(response: UnaryResponse, maxBytes: number): void
}

/** The response to a unary call: a message, or an entity that is converted only if necessary. */
export type UnaryResponse = Message | EntityResponse

/** A response that a repository has returned and that has not been converted to a message. */
export interface EntityResponse {
  readonly message: Message
  /**
   * Returns the protobuf encoding.
   * @throws Error for an invalid value, ResourceExhausted for more than `maxBytes`.
   */
  bytes(maxBytes: number): Uint8Array
  /**
   * Returns the proto3 JSON.
   * @throws RangeError with the field for an invalid value, ResourceExhausted if the text is too long.
   */
  json(options: JsonWriteOptions): string
}

/** The part of a request that is read after authorization, unless its rule needs it earlier. */
export interface RestOfRequest {
  /** Returns true if a field, given by its path, already has its final value. */
  knows(field: string): boolean
  /** Decompresses and decodes the rest. */
  read(): WholeRequest | Promise<WholeRequest>
}

/** A request that was read completely. */
export interface WholeRequest {
  readonly request: Message
  readonly ignoredMask: readonly string[]
}

/**
 * The interceptor chain with its handlers, which both listeners call. Throws or rejects with an
 * `AshlarError`.
 */
export interface Dispatcher {
  /** The limits that listeners apply. The dispatcher itself checks the response of a unary call. */
  readonly limits: MessageLimits
  /**
   * Runs a unary call. `incoming` encodes the response.
   * @param request - the part that has been read; undefined if nothing has.
   * @returns a promise for the end of the call; undefined if it has already ended.
   */
  unary(incoming: Incoming, request: Message | undefined): Promise<unknown> | undefined
  /**
   * Runs a streaming call of any kind. A single request or response is a stream with one message.
   * @param requests - undefined for a single request that has not been read.
   */
  stream(incoming: Incoming, requests: AsyncIterable<Message> | undefined): AsyncIterable<Message>
}

/** A precondition on the etag (RFC 9110 `If-Match`, AIP-154). */
export interface IfMatch {
  /** True for `*`: any etag matches if the entity exists. */
  readonly any: boolean
  /** Strong etags without quotes. An empty list matches nothing. */
  readonly etags: readonly string[]
}

/** The running operation as its work receives it. */
export interface RunningOperation {
  /** The name, `operations/<id>`. */
  readonly name: string
  /** Aborts when the operation is cancelled or the server shuts down. */
  readonly signal: AbortSignal
  /** Reports progress, as a message of the method's metadata type. */
  progress(metadata: Message): Promise<void>
}

/**
 * The work of an operation. Its result becomes the operation's response; undefined becomes
 * `google.protobuf.Empty`.
 */
export type OperationWork = (operation: RunningOperation) => Promise<Message | void>

/** Starts long-running operations (AIP-151) on behalf of a call. */
export interface CallOperations {
  /** Starts the work, which continues after the call has ended, and returns the pending operation at once. */
  start(options: { readonly metadata?: Message }, work: OperationWork): Promise<Operation>
}

/** The repository operations that a restricted call may use. */
export type RestrictedOperations<R> = Pick<
  R,
  Extract<
    keyof R,
    | ('model' | 'get' | 'list' | 'count' | 'exists' | 'batchGet' | 'create' | 'update' | 'delete')
    | ('modify' | 'undelete' | 'batchUpdate' | 'batchDelete' | 'transaction')
  >
>

/** The part of a call that its handler can use. */
export interface ServerCall {
  /** Full gRPC method name, `/package.Service/Method`. */
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
  /** Milliseconds since the epoch; undefined if the call has no deadline. */
  readonly deadline: number | undefined
  readonly peer: string
  readonly ifMatch: IfMatch | undefined
  /** If true, write nothing and return the response that the write would have produced (AIP-163). */
  readonly validateOnly: boolean
  /** Mask paths for which nothing must be written. */
  readonly ignoredMask: readonly string[]
  /**
   * Returns the repository with this call's restrictions. If the authorizer makes row-level decisions, the
   * call can access the rows that both the decision about the call and the decision about `get` allow.
   * Otherwise this is the repository itself. If the call's rule names another resource, the authorizer
   * decides about the Get of the repository's own resource. Also available in functions without
   * `supportsRowAccess` and in streams.
   * @throws TypeError in a public method if the authorizer makes row-level decisions.
   */
  restricted<R extends object>(repository: R): RestrictedOperations<R>
  /** Starts long-running operations. */
  readonly operations: CallOperations
}
