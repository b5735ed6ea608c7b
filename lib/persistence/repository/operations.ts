import type { ReferringOptions } from '../contract/related-options.js'
import type { ListScope, RowOptions } from '../contract/repository.js'
import type { Values } from '../contract/new-entity.js'
import type { LockClause } from '../contract/row-lock.js'
import type { Scope } from '../contract/scope.js'
import type { BeginOptions } from '../dialects/dialect.js'
import type { RowCall } from '../rows/row-call.js'

/** One read of a repository, inside of the transaction that its call joins. */
export interface ReadOperation<C extends RowCall> {
  readonly call: C
  readonly scope: Scope
  /** That the read requests. */
  readonly lock: LockClause | undefined
}

/**
 * One write of a repository. What it needs to know is found out first, and sent as often as a deadlock makes
 * necessary.
 */
export interface WriteOperation<C extends RowCall> {
  readonly scope: Scope
  /** Asks what the caller of these values may refer to, before a transaction begins for the write. */
  refers(...written: readonly Readonly<Values>[]): Promise<void>
  /** Writes, together with hooks and events. */
  send<T>(write: (call: C) => Promise<T>, how?: SendOptions<C>): Promise<T>
}

/** Options for sending a write. */
export interface SendOptions<C extends RowCall> {
  /** True if all of its statements take effect, or none. Default: where it has several. */
  readonly isAtomic?: boolean
  /** Set if it writes rows of several resources. */
  readonly together?: Together<C> | undefined
}

/** Options of an operation that writes rows of several resources. */
export interface Together<C extends RowCall> {
  /** True if it calls hooks of one of them. */
  readonly callsHooks: boolean
  /** True if it may write events. */
  readonly emits: boolean
  /** The settings of a transaction that the operation opens for itself alone. */
  readonly settings: BeginOptions
  /** @throws ErrPreconditionFailed for a transaction that it cannot join. */
  checkJoined(call: C): Promise<void>
}

/** Settings of a read besides its options. */
export interface ReadSettings {
  /** True if it may leave locked rows out. */
  readonly mayLeaveOut?: boolean
  /** Whose rows it reaches, where that is not the tenant of the principal. */
  readonly scope?: Scope
}

/** Runs the operations of one repository: principal, transaction, retries and errors. */
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
