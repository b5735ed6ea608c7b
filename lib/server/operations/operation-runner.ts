import { randomUUID } from 'node:crypto'
import { create, type Message } from '@bufbuild/protobuf'
import { EmptySchema } from '@bufbuild/protobuf/wkt'
import type { OperationWork } from '../../call.js'
import type { RequestContext } from '../../context.js'
import { DETAIL_TYPES, detailsOf, toStatus } from '../../error-details.js'
import { type AshlarError, Cancelled, PermissionDenied, Unavailable } from '../../errors.js'
import { errorForLog } from '../../faults/driver-fault.js'
import type { Operation } from 'ashlar-annotations/google/longrunning/operations_pb.js'
import { type Redaction, withoutSecrets } from '../../resource/redaction.js'
import type { Logger } from '../observability/logger.js'
import { pack, typeNamed } from './message-types.js'
import type { Method } from '../chain/method.js'
import { storedFailure, toOperation } from './operation-message.js'
import { newOperationName, newOwnedName } from './operation-names.js'
import type {
  OperationChange,
  OperationFailure,
  OperationRecord,
  OperationStore,
  Packed,
} from './operation-store.js'
import { Outages } from '../observability/outages.js'
import { causeOf, toAshlarError } from '../observability/to-ashlar-error.js'

/** The time by which a pending operation outlives its process, in milliseconds. */
const LEASE_MS = 15_000
const RENEW_MS = LEASE_MS / 3
const PAUSES_MS = [100, 1_000, 5_000]

interface Running {
  readonly controller: AbortController
  readonly settled: Promise<void>
}

/** Runs operations in this process. */
export class OperationRunner {
  readonly #store: OperationStore
  readonly #logger: Logger
  readonly #redaction: Redaction
  readonly #owner = randomUUID()
  readonly #running = new Map<string, Running>()
  readonly #outages = new Outages()

  /**
   * @param isOwned - true if operations belong to the principal who starts them rather than to the whole
   *   tenant.
   */
  constructor(
    store: OperationStore,
    logger: Logger,
    redaction: Redaction,
    private readonly isOwned: boolean,
  ) {
    this.#store = store
    this.#logger = logger
    this.#redaction = redaction
  }

  /**
   * Starts an operation.
   * @throws PermissionDenied for a call without a tenant or owner, because it could never read its operation.
   */
  async start(
    method: Method,
    context: RequestContext,
    metadata: Message | undefined,
    work: OperationWork,
  ): Promise<Operation> {
    const { principal } = context
    const { tenant } = principal
    if (tenant === '') throw new PermissionDenied('the call has no tenant, but operations belong to one')
    if (this.isOwned && principal.subject === '')
      throw new PermissionDenied(
        'the call has no subject, but with row-level decisions an operation belongs to the subject who starts it',
      )
    const record: OperationRecord = {
      name: this.isOwned ? newOwnedName(principal) : newOperationName(),
      tenant,
      method: method.path,
      status: 'pending',
      metadata: metadata && this.#packed(method, metadata),
      response: undefined,
      failure: undefined,
    }
    await this.#store.create(record, this.#owner, LEASE_MS)
    const controller = new AbortController()
    const settled = this.#work(record.name, method, context, controller, work)
    this.#running.set(record.name, { controller, settled })
    void settled.finally(() => this.#running.delete(record.name))
    return toOperation(record)
  }

  /** Stops the work if it runs in this process. Elsewhere it stops when its worker renews its lease. */
  cancel(name: string): void {
    this.#running.get(name)?.controller.abort(new Cancelled())
  }

  /** Resolves when the work has ended; undefined if it does not run in this process. */
  settled(name: string): Promise<void> | undefined {
    return this.#running.get(name)?.settled
  }

  /** Stops all work, and resolves when it has ended. */
  async stop(): Promise<void> {
    const all = [...this.#running.values()]
    for (const { controller } of all)
      controller.abort(new Unavailable('the server was shut down: start it again'))
    await Promise.all(all.map(({ settled }) => settled))
  }

  async #work(
    name: string,
    method: Method,
    context: RequestContext,
    controller: AbortController,
    work: OperationWork,
  ): Promise<void> {
    const { signal } = controller
    const renewal = setInterval(() => void this.#renew(name, controller), RENEW_MS)
    renewal.unref()
    const progress = async (metadata: Message) => {
      await this.#store.write(name, this.#owner, { metadata: this.#packed(method, metadata) }, LEASE_MS)
    }
    // The work continues after its call, so neither the call's deadline nor its transaction applies.
    const inside = context.with({ signal, deadline: undefined, transaction: undefined })
    const end = await inside.run(async (): Promise<OperationChange['end']> => {
      try {
        const response = (await work({ name, signal, progress })) ?? create(EmptySchema)
        return { status: 'succeeded', response: this.#packed(method, response), failure: undefined }
      } catch (error) {
        return this.#failure(name, method, signal, error)
      }
    })
    clearInterval(renewal)
    await this.#finish(name, end)
  }

  #failure(name: string, method: Method, signal: AbortSignal, error: unknown): OperationChange['end'] {
    const known = toAshlarError(signal.aborted ? signal.reason : error, {
      expired: false,
      cancelled: signal.aborted,
    })
    if (known.code === 'INTERNAL') {
      this.#logger.error({ operation: name, method: method.path, err: causeOf(known) }, 'operation failed')
    }
    this.#outages.tell(known, (err, message) =>
      this.#logger.error({ operation: name, method: method.path, err }, message),
    )
    const failure = this.#reportedFailure(name, method, known)
    return { status: known.code === 'CANCELLED' ? 'cancelled' : 'failed', response: undefined, failure }
  }

  /**
   * Returns the failure for callers. It includes details of types that the service's file imports, and the
   * details that any error may have, because callers can decode only these.
   */
  #reportedFailure(operation: string, method: Method, error: AshlarError): OperationFailure {
    const { details = [], ...failure } = storedFailure(toStatus(error))
    const { file } = method.desc.parent
    const canBeRead = ({ type }: Packed) =>
      typeNamed(type, file) !== undefined || DETAIL_TYPES.some(({ typeName }) => typeName === type)
    const unknown = details.filter((detail) => !canBeRead(detail))
    const problems = unknown.map(({ type }) => `${type} is not known to ${file.name}.proto: import it there`)
    for (const problem of [...detailsOf(error).problems, ...problems])
      this.#logger.error({ operation, method: method.path, problem }, 'an error detail was left out')
    return details.length === 0 ? failure : { ...failure, details: details.filter(canBeRead) }
  }

  async #renew(name: string, controller: AbortController): Promise<void> {
    try {
      const { isHeld, isCancelRequested } = await this.#store.write(name, this.#owner, {}, LEASE_MS)
      if (isCancelRequested || !isHeld) controller.abort(new Cancelled())
    } catch (error) {
      this.#logger.warn(
        { operation: name, err: errorForLog(error) },
        'the lease of an operation was not renewed',
      )
    }
  }

  /** Writes the end of an operation, with retries, because an unwritten end looks like a dead worker. */
  async #finish(name: string, end: OperationChange['end']): Promise<void> {
    for (const pauseMs of [...PAUSES_MS, undefined]) {
      try {
        await this.#store.write(name, this.#owner, { end }, LEASE_MS)
        return
      } catch (error) {
        this.#logger.warn(
          { operation: name, err: errorForLog(error) },
          'the result of an operation was not written',
        )
        if (pauseMs !== undefined) await new Promise((resolve) => setTimeout(resolve, pauseMs))
      }
    }
  }

  #packed({ desc }: Method, message: Message): Packed {
    const { file } = desc.parent
    const type = typeNamed(message.$typeName, file)
    return pack(type === undefined ? message : withoutSecrets(this.#redaction, type, message).message, file)
  }
}
