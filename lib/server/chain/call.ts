import type { Message } from '@bufbuild/protobuf'
import type {
  CallOperations,
  IfMatch,
  Incoming,
  Metadata,
  OperationWork,
  RestOfRequest,
  RestrictedOperations,
} from '../../call.js'
import type { RequestContext } from '../../context.js'
import type { AshlarError } from '../../errors.js'
import type { Operation } from 'ashlar-annotations/google/longrunning/operations_pb.js'
import type { Deadline } from './deadline.js'
import type { ReplyOrPromise } from './interceptor.js'
import type { Method } from './method.js'
import type { CallReferences, FilterAccess, RelatedDecisions, RowAccess } from './row-access.js'

/** A call on its way through the chain: one object, on which each interceptor stores its results. */
export class Call {
  readonly path: string
  readonly metadata: Metadata
  readonly headers: Metadata
  readonly trailers: Metadata
  readonly peer: string
  /** The mask paths that must write nothing. */
  ignoredMask: readonly string[]
  /** Why the request cannot be read; undefined when it can. */
  unreadable: Error | undefined
  /** The part of the request that is not read yet, until authorization has read it. */
  rest: RestOfRequest | undefined
  /** The precondition; undefined without one. */
  ifMatch: IfMatch | undefined = undefined
  /** Whether the call must write nothing. */
  validateOnly = false
  /** Whether the call holds an idempotency key, which it keeps until its handler has settled. */
  holdsKey = false
  /** The work of a handler that holds a key, which may continue after the caller has the reply; undefined until it starts. */
  handling: Handling | undefined = undefined
  /** How rows are restricted; undefined where the authorizer allowed them all. */
  rowAccess: RowAccess | undefined = undefined
  /** What the caller may do with resources that go with the one of the call; undefined where nothing can go with it. */
  related: RelatedDecisions | undefined = undefined
  /** What the caller may refer to; undefined where nothing is written that refers to something. */
  references: CallReferences | undefined = undefined
  /** Which relations a filter and an order may lead through; undefined where none can. */
  filterAccess: FilterAccess | undefined = undefined
  /** Why the call was denied, where that is told. */
  denial: string | undefined = undefined

  /**
   * @param request - the single request, as far as it is read; undefined when nothing of it is, and when the client streams.
   * @param requests - the client's stream; undefined when it sends one request.
   * @param runner - runs the operations that the handler starts.
   */
  constructor(
    readonly method: Method,
    readonly incoming: Incoming,
    public request: Message | undefined,
    public requests: AsyncIterable<Message> | undefined,
    readonly runner: OperationStarter,
  ) {
    this.path = method.path
    this.metadata = incoming.metadata
    this.headers = incoming.headers
    this.trailers = incoming.trailers
    this.peer = incoming.peer
    this.ignoredMask = incoming.ignoredMask ?? []
    this.rest = incoming.rest
    this.unreadable = incoming.unreadable
  }

  get signal(): AbortSignal {
    return (this as Partial<Timed>).time?.signal ?? this.incoming.caller.signal
  }

  get deadline(): number | undefined {
    return (this as Partial<Timed>).time?.at
  }

  /** Why the call ended before its reply; undefined while it is open. */
  get ended(): AshlarError | undefined {
    return (this as Partial<Timed>).time?.ended ?? this.incoming.caller.reason
  }

  restricted<R extends object>(repository: R): RestrictedOperations<R> {
    const within = this.rowAccess?.restrict(repository as never, 'acts') ?? repository
    return (this.references?.restrict(repository as never, within as never) ?? within) as never
  }

  /** Starts long-running operations on behalf of this call. */
  get operations(): CallOperations {
    const { context } = this as unknown as { readonly context: RequestContext }
    return { start: ({ metadata }, work) => this.runner.start(this.method, context, metadata, work) }
  }
}

/** Starts the operations of calls; the work continues after its call has ended. */
export interface OperationStarter {
  start(
    method: Method,
    context: RequestContext,
    metadata: Message | undefined,
    work: OperationWork,
  ): Promise<Operation>
}

/** A handler's unfinished work. */
export interface Handling {
  settled: boolean
  readonly reply: ReplyOrPromise
}

interface Timed {
  readonly time: Deadline
}
