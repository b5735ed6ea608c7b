import type { OperationDecision } from '../../context.js'
import type { ReferenceAccess } from '../../persistence/contract/related-options.js'
import type { Operation, Unrestricted } from '../../persistence/repository/repository-operation.js'

/** A kind of operation. A decision about one operation applies to all of its kind. */
export type OperationKind = 'get' | 'list' | 'create' | 'update' | 'delete' | 'undelete'

/** Operations that require a permission of the caller. The server itself purges rows and verifies tokens. */
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

/** The limits on an operation. */
export interface Limits {
  /**
   * Runs an operation for a caller who may access only some rows. Omitted if all rows of the tenant are
   * accessible.
   */
  readonly restricted?:
    ((operation: DecidedOperation, unrestricted: Unrestricted) => Promise<unknown>) | undefined
  /** The rows that the caller may refer to; omitted for all. */
  readonly references?: ReferenceAccess | undefined
}

/**
 * An operation that the server or a custom function has called on a repository. While it runs, its decision
 * applies to each operation of its kind on this repository, even if an override uses other options, runs it
 * twice or opens a transaction. Other operations of the override are not restricted.
 */
export class CalledOperation implements OperationDecision {
  /** True if an operation of the kind was executed. */
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

  /** Ends the operation. Code that continues afterwards, such as a timer, is no longer part of the call. */
  end(): void {
    this.#isOver = true
  }
}
