import type { ReferringOptions } from '../contract/related-options.js'
import type { ListScope, RowOptions } from '../contract/repository.js'
import type { Values } from '../contract/new-entity.js'
import type { LockClause } from '../contract/row-lock.js'
import type { Scope } from '../contract/scope.js'
import type { BeginOptions } from '../dialects/dialect.js'
import type { RowCall } from '../rows/row-call.js'

/** A read of a repository, in the transaction that its call joins. */
export interface ReadOperation<C extends RowCall> {
  readonly call: C
  readonly scope: Scope
  /** The lock that the read requests. */
  readonly lock: LockClause | undefined
}

/**
 * A write of a repository. Everything it needs is determined first. It is then sent, and sent again after a
 * deadlock.
 */
export interface WriteOperation<C extends RowCall> {
  readonly scope: Scope
  /**
   * Determines the rows that the caller may refer to with these values, before a transaction begins for the
   * write.
   */
  refers(...written: readonly Readonly<Values>[]): Promise<void>
  /** Performs the write with its hooks and events. */
  send<T>(write: (call: C) => Promise<T>, how?: SendOptions<C>): Promise<T>
}

/** Options for sending a write. */
export interface SendOptions<C extends RowCall> {
  /** True if either all statements or none must take effect. Default: true if there are several. */
  readonly isAtomic?: boolean
  /** Set if the write affects rows of several resources. */
  readonly together?: Together<C> | undefined
}

/** Options of an operation that writes rows of several resources. */
export interface Together<C extends RowCall> {
  /** True if it calls hooks of one of the resources. */
  readonly callsHooks: boolean
  /** True if it may emit events. */
  readonly emits: boolean
  /** The settings of a transaction that begins for this operation. */
  readonly settings: BeginOptions
  /**
   * Checks that the operation can join a transaction.
   *
   * @throws ErrPreconditionFailed if the operation cannot join the transaction.
   */
  checkJoined(call: C): Promise<void>
}

/** Settings of a read in addition to its options. */
export interface ReadSettings {
  /** True if it may omit locked rows. */
  readonly mayLeaveOut?: boolean
  /** The rows that it can reach, if they are not the rows of the principal's tenant. */
  readonly scope?: Scope
}

/** Runs the operations of a repository. Handles the principal, transactions, retries and errors. */
export interface Operations<C extends RowCall> {
  read<T>(
    name: string,
    options: ListScope | undefined,
    work: (operation: ReadOperation<C>) => Promise<T>,
    settings?: ReadSettings,
  ): Promise<T>
  write<T>(
    name: string,
    options: (RowOptions & ReferringOptions) | undefined,
    work: (operation: WriteOperation<C>) => Promise<T>,
  ): Promise<T>
}
