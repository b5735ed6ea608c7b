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
 * A call on its way through the chain: which method is called, from where, with what, and until when. The
 * other fields are set by the steps of the chain, each by the step that is named beside it. Until then they
 * are undefined: a step says in its type which of them it adds, and which it needs.
 */
export class Call {
  readonly path: string
  readonly metadata: Metadata
  readonly headers: Metadata
  readonly trailers: Metadata
  readonly peer: string
  /** The mask paths that must write nothing. */
  ignoredMask: readonly string[]
  /** The part of the request that is not read yet; undefined from authorization on. */
  rest: RestOfRequest | undefined

  /** tracing */
  trace: TraceIds | undefined = undefined
  /** requestId */
  requestId: string | undefined = undefined
  /** tenantId: the tenant that the caller names, which is not verified */
  tenantHint: string | undefined = undefined
  /** rateLimit: charges the call to the principal's tenant; undefined where nothing is left to charge */
  charge: ((principal: Principal) => Promise<void>) | undefined = undefined
  /** authentication: the principal of the verified bearer token; undefined without a token */
  verified: Principal | undefined = undefined
  /** authorization: set before the call is allowed or denied */
  principal: Principal | undefined = undefined
  /** authorization, of a call that is denied */
  denial: string | undefined = undefined
  /** authorization, as all that follow: the verb of the method's rule */
  verb: string | undefined = undefined
  operations: CallOperations | undefined = undefined
  rowAccess: RowAccess | undefined = undefined
  ownAccess: Pick<RowAccess, 'restrict'> | undefined = undefined
  references: CallReferences | undefined = undefined
  related: RelatedDecisions | undefined = undefined
  filterAccess: FilterAccess | undefined = undefined
  /** authorization; within a transaction of idempotency or of a wrapped method, that of the transaction */
  context: RequestContext | undefined = undefined
  /** etag: the precondition of the request, undefined for none */
  ifMatch: IfMatch | undefined = undefined
  /** validateOnly: true if the call must write nothing */
  validateOnly = false
  /** idempotency: the key that the call holds; undefined without one */
  key: { runs(reply: ReplyOrPromise): void } | undefined = undefined

  /**
   * @param request - the single request, as far as it is read; undefined when nothing of it is, and when the
   * client streams.
   * @param requests - the client's stream; undefined when it sends one request.
   * @param time - limits every step of the call.
   * @param runner - runs the operations that the handler starts.
   * @param unreadable - why the request cannot be read; undefined when it can.
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

  /** Why the call ended before its reply; undefined while it is open. */
  get ended(): AshlarError | undefined {
    return this.time.ended
  }

  /** As {@link ServerCall} has it; only authorization knows to what the call is restricted. */
  restricted<R extends object>(this: Restrictions, repository: R): RestrictedOperations<R> {
    return restrictedTo(
      this,
      repository as object as Repository<object>,
      'acts',
    ) as object as RestrictedOperations<R>
  }
}

/** The limits that authorization set for a call. */
export interface Restrictions {
  /** The row-level restriction; omitted if the authorizer allowed all rows. */
  readonly rowAccess?: RowAccess | undefined
  /** The restriction that `restricted` applies if the method itself has none. */
  readonly ownAccess?: Pick<RowAccess, 'restrict'> | undefined
  /** The resources that the caller may refer to; omitted if the call writes no reference. */
  readonly references?: CallReferences | undefined
  /** The caller's permissions on related resources; omitted if the call cannot affect any. */
  readonly related?: RelatedDecisions | undefined
  /** Which relations a filter and an order may lead through; left out where none can. */
  readonly filterAccess?: FilterAccess | undefined
}

/** The repository as the call may use it. */
export const restrictedTo = (
  { rowAccess, ownAccess, references }: Restrictions,
  repository: Repository<object>,
  kind: RowAccessKind,
): Repository<object> =>
  (rowAccess ?? ownAccess)?.restrict(repository, kind, references) ??
  references?.restrict(repository, kind) ??
  repository

/** Starts the operations of calls; the work continues after its call has ended. */
export interface OperationStarter {
  start(
    method: Method,
    context: RequestContext,
    metadata: Message | undefined,
    work: OperationWork,
  ): Promise<Operation>
}
