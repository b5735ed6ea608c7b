import type { OperationDecision } from '../../context.js'
import type { ReferenceAccess } from '../../persistence/contract/related-options.js'
import type { Operation, Unrestricted } from '../../persistence/repository/repository-operation.js'

/** Operations of one kind: what was decided about one of them holds for the others. */
export type OperationKind = 'get' | 'list' | 'create' | 'update' | 'delete' | 'undelete'

/** Operations about which a caller's rights decide. A purge and the check of a token are the server's own. */
export type DecidedOperation = Exclude<Operation, { readonly kind: 'verify' | 'purgeExpired' }>

const KINDS: Readonly<Record<DecidedOperation['kind'], OperationKind>> = {
  get: 'get',
  batchGet: 'get',
  lookup: 'get',
  reveal: 'get',
  list: 'list',
  count: 'list',
  create: 'create',
  update: 'update',
  modify: 'update',
  batchUpdate: 'update',
  updateMany: 'update',
  remint: 'update',
  delete: 'delete',
  batchDelete: 'delete',
  deleteMany: 'delete',
  undelete: 'undelete',
}

/** Carries out an operation of which the caller may reach only some rows. */
export interface Limits {
  /** Left out where all rows of the tenant may be reached. */
  readonly restricted?:
    ((operation: DecidedOperation, unrestricted: Unrestricted) => Promise<unknown>) | undefined
  /** The rows that the caller may refer to; omitted for all. */
  readonly references?: ReferenceAccess | undefined
}

/**
 * An operation that the server, or a function of a call, has called on a repository. While it runs, what was
 * decided holds for each operation of its kind on this repository, however an override reaches it: with other
 * options, twice, or in a transaction. What the override reads or writes besides is not restricted.
 */
export class CalledOperation implements OperationDecision {
  /** True if an operation of the kind was carried out. */
  isReached = false
  #isOver = false

  constructor(
    private readonly repository: object,
    private readonly kind: OperationKind,
    private readonly limits: Limits,
  ) {}

  carryOut(
    repository: object,
    operation: Operation,
    unrestricted: Unrestricted,
  ): Promise<unknown> | undefined {
    if (this.#isOver || repository !== this.repository || !this.#isOfKind(operation)) return undefined
    this.isReached = true
    const { restricted, references } = this.limits
    const asked =
      references === undefined
        ? operation
        : ({ ...operation, options: { ...operation.options, references } } as DecidedOperation)
    return restricted?.(asked, unrestricted) ?? unrestricted.perform(asked)
  }

  #isOfKind(operation: Operation): operation is DecidedOperation {
    return (
      (KINDS as Readonly<Partial<Record<Operation['kind'], OperationKind>>>)[operation.kind] === this.kind
    )
  }

  /** Code that continues afterwards, such as a timer, is no longer part of the call. */
  end(): void {
    this.#isOver = true
  }
}
