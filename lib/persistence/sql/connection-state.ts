import type { HeldConnection, TransactionChain } from '../contract/open-transaction.js'
import type { Lease } from '../engines/executor/executor.js'
import type { TableIndexes } from '../engines/errors/to-caller.js'
import type { LockedSnapshot } from '../engines/executor/locked-snapshot.js'
import type { TransactionScope } from './transaction-scope.js'

/** The state that all scopes of one transaction share. */
export interface ConnectionState extends HeldConnection {
  readonly lease: Lease
  readonly snapshot: LockedSnapshot
  /** The error with which the database ended the transaction. */
  ended: unknown
  uses: number
  running: number
}

/** The position and settings of a transaction. */
export interface TransactionParents {
  /** The surrounding transactions, of any database. */
  readonly around: TransactionChain | undefined
  /** The outer scope of the same transaction, which waits until this scope ends. */
  readonly parent: TransactionScope | undefined
  /** True if a failed statement leaves the scope usable, even on PostgreSQL. */
  readonly isForgiving: boolean
  readonly isReadOnly: boolean
  /** The indexes of the repository that began the transaction. */
  readonly indexes?: TableIndexes | undefined
}
