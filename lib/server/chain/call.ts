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
import type { Principal, RequestContext, TraceIds } from '../../context.js'
import type { AshlarError } from '../../errors.js'
import type { Repository } from '../../persistence/contract/repository.js'
import type { Operation } from 'ashlar-annotations/google/longrunning/operations_pb.js'
import type { Deadline } from './deadline.js'
import type { ReplyOrPromise } from './interceptor.js'
import type { Method } from './method.js'
import type {
  CallReferences,
  FilterAccess,
  RelatedDecisions,
  RowAccess,
  RowAccessKind,
} from './row-access.js'

/**
 * A call on its way through the interceptor chain: its method, metadata, request and deadline. The other
 * fields are undefined until the interceptor named in their comment sets them. The type of each interceptor
 * states which fields it adds and which it requires.
 */
export class Call {
  readonly path: string
  readonly metadata: Metadata
  readonly headers: Metadata
  readonly trailers: Metadata
  readonly peer: string
  /** Mask paths for which nothing is written. */
  ignoredMask: readonly string[]
  /** The part of the request that has not been read yet; undefined from authorization on. */
  rest: RestOfRequest | undefined

  /** Set by tracing. */
  trace: TraceIds | undefined = undefined
  /** Set by requestId. */
  requestId: string | undefined = undefined
  /** Set by tenantId: the unverified tenant that the caller names. */
  tenantHint: string | undefined = undefined
  /**
   * Set by rateLimit: charges the call to the principal's tenant. Undefined if there is nothing to charge.
   */
  charge: ((principal: Principal) => Promise<void>) | undefined = undefined
  /** Set by authentication: the principal of the verified bearer token. Undefined without a token. */
  verified: Principal | undefined = undefined
  /** Set by authorization before the call is allowed or denied. */
  principal: Principal | undefined = undefined
  /** Set by authorization if the call is denied. */
  denial: string | undefined = undefined
  /** The verb of the method's rule. This field and those below are set by authorization. */
  verb: string | undefined = undefined
  operations: CallOperations | undefined = undefined
  rowAccess: RowAccess | undefined = undefined
  ownAccess: Pick<RowAccess, 'restrict'> | undefined = undefined
  references: CallReferences | undefined = undefined
  related: RelatedDecisions | undefined = undefined
  filterAccess: FilterAccess | undefined = undefined
  /**
   * Set by authorization. In a transaction of idempotency or of a wrapped method, this is the transaction's
   * context.
   */
  context: RequestContext | undefined = undefined
  /** Set by etag: the request's precondition. Undefined without one. */
  ifMatch: IfMatch | undefined = undefined
  /** Set by validateOnly: true if the call must write nothing. */
  validateOnly = false
  /** Set by idempotency: the key that the call holds. Undefined without one. */
  key: { runs(reply: ReplyOrPromise): void } | undefined = undefined

  /**
   * @param request - the single request; undefined if the client streams or nothing has been read yet.
   * @param requests - the client's stream; undefined if the client sends one request.
   * @param time - limits every step of the call.
   * @param runner - runs the operations that the handler starts.
   * @param unreadable - why the request cannot be read; undefined if it can.
   */
  constructor(
    readonly method: Method,
    readonly incoming: Incoming,
    public request: Message | undefined,
    public requests: AsyncIterable<Message> | undefined,
    readonly time: Deadline,
    readonly runner: OperationStarter,
    readonly unreadable = incoming.unreadable,
  ) {
    this.path = method.path
    this.metadata = incoming.metadata
    this.headers = incoming.headers
    this.trailers = incoming.trailers
    this.peer = incoming.peer
    this.ignoredMask = incoming.ignoredMask ?? []
    this.rest = incoming.rest
  }

  get signal(): AbortSignal {
    return this.time.signal
  }

  get deadline(): number | undefined {
    return this.time.at
  }

  /** The error that ended the call before its reply; undefined while the call runs. */
  get ended(): AshlarError | undefined {
    return this.time.ended
  }

  /** Implements {@link ServerCall}. Only authorization knows the call's restrictions. */
  restricted<R extends object>(this: Restrictions, repository: R): RestrictedOperations<R> {
    return restrictedTo(
      this,
      repository as object as Repository<object>,
      'acts',
    ) as object as RestrictedOperations<R>
  }
}

/** The limits that authorization sets for a call. */
export interface Restrictions {
  /** The row-level restriction; omitted if the authorizer allowed all rows. */
  readonly rowAccess?: RowAccess | undefined
  /** The restriction that `restricted` applies if the method itself has none. */
  readonly ownAccess?: Pick<RowAccess, 'restrict'> | undefined
  /** The resources that the caller may refer to; omitted if the call writes no reference. */
  readonly references?: CallReferences | undefined
  /** The caller's permissions on related resources; omitted if the call cannot affect any. */
  readonly related?: RelatedDecisions | undefined
  /** The relations that a filter and a sort order may use; omitted if the call can use none. */
  readonly filterAccess?: FilterAccess | undefined
}

/** Returns the repository with the call's restrictions applied. */
export const restrictedTo = (
  { rowAccess, ownAccess, references }: Restrictions,
  repository: Repository<object>,
  kind: RowAccessKind,
): Repository<object> =>
  (rowAccess ?? ownAccess)?.restrict(repository, kind, references) ??
  references?.restrict(repository, kind) ??
  repository

/** Starts operations for calls. Their work continues after the call has ended. */
export interface OperationStarter {
  start(
    method: Method,
    context: RequestContext,
    metadata: Message | undefined,
    work: OperationWork,
  ): Promise<Operation>
}
