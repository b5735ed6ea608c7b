import type { Message } from '@bufbuild/protobuf'
import type { CallOperations, Incoming, Metadata, OperationWork, RestOfRequest } from '../../call.js'
import type { Deadline } from './deadline.js'
import type { RequestContext } from '../../context.js'
import type { AshlarError } from '../../errors.js'
import type { Operation } from '../../gen/google/longrunning/operations_pb.js'
import type { Method } from './method.js'

/** One message, or a stream of them for methods that answer with a stream. */
export type Reply = Message | AsyncIterable<Message>

/** A reply that is there, or one that somebody waits for. A stage that waits for nothing makes no promise. */
export type Answer = Reply | Promise<Reply>

/** Answers, rejects or throws. */
export type Next<C> = (call: C) => Answer

/**
 * One link of the chain. `Adds` is what it puts on the call for those behind it, `Needs` what one before it must have put
 * there, so that a wrong order does not compile.
 */
export type Interceptor<Adds extends object = object, Needs extends object = object> = <
  C extends Call & Needs,
>(
  call: C,
  next: Next<C & Adds>,
) => Answer

/** A call on its way through the chain: one object, on which each link leaves what it found out. */
export class Call {
  /** The mask paths that must write nothing. */
  ignoredMask: readonly string[]
  /** Why the request cannot be read; undefined where it can. */
  unreadable: Error | undefined
  /** What of the request is still to be read, until authorization has read it. */
  rest: RestOfRequest | undefined
  /** The handler's own work, which may go on when the call was answered already; undefined until it starts. */
  handling: Handling | undefined

  /**
   * @param request - the single request; undefined when the client streams.
   * @param requests - what the client streams; undefined when it sends one request.
   * @param runner - works on the operations that the handler starts.
   */
  constructor(
    readonly method: Method,
    readonly incoming: Incoming,
    public request: Message | undefined,
    public requests: AsyncIterable<Message> | undefined,
    readonly runner: OperationStarter,
  ) {
    this.ignoredMask = incoming.ignoredMask ?? []
    this.rest = incoming.rest
    this.unreadable = incoming.unreadable
  }

  get path(): string {
    return this.method.path
  }

  get metadata(): Metadata {
    return this.incoming.metadata
  }

  get headers(): Metadata {
    return this.incoming.headers
  }

  get trailers(): Metadata {
    return this.incoming.trailers
  }

  get peer(): string {
    return this.incoming.peer
  }

  get signal(): AbortSignal {
    return (this as Partial<Timed>).time?.signal ?? this.incoming.caller.signal
  }

  get deadline(): number | undefined {
    return (this as Partial<Timed>).time?.at
  }

  /** Why the call was over before it was answered; undefined while it is not. */
  get ended(): AshlarError | undefined {
    return (this as Partial<Timed>).time?.ended ?? this.incoming.caller.reason
  }

  /** Starts long-running operations on behalf of this call. */
  get operations(): CallOperations {
    const { context } = this as unknown as { readonly context: RequestContext }
    return { start: ({ metadata }, work) => this.runner.start(this.method, context, metadata, work) }
  }

  /** The same call, with these facts on it. */
  with<F extends object>(facts: F): this & F {
    return Object.assign(this, facts)
  }

  /** The same call, marked as having passed a link that leaves no facts. */
  passed<Name extends string>(_link: Name): this & Passed<Name> {
    return this as this & Passed<Name>
  }
}

/** Starts the operations of calls; the work goes on when its call has ended. */
export interface OperationStarter {
  start(
    method: Method,
    context: RequestContext,
    metadata: Message | undefined,
    work: OperationWork,
  ): Promise<Operation>
}

/** A handler at work. */
export interface Handling {
  settled: boolean
  readonly reply: Answer
}

interface Timed {
  readonly time: Deadline
}

declare const passed: unique symbol

/** A mark in types alone: the call has been through the link of this name. */
export interface Passed<Name extends string> {
  readonly [passed]: { readonly [N in Name]: true }
}
