import type { HeldConnection, TransactionChain } from '../contract/open-transaction.js'
import type { Lease } from '../engines/executor/executor.js'
import type { TableIndexes } from '../engines/errors/to-caller.js'
import type { LockedSnapshot } from '../engines/executor/locked-snapshot.js'
import type { TransactionScope } from './transaction-scope.js'

/** The state that all scopes of one transaction share. */
export interface ConnectionState extends HeldConnection {
  readonly lease: Lease
  readonly snapshot: LockedSnapshot
  /** Why the database ended the transaction before we did. */
  ended: unknown
  uses: number
  running: number
}

/** The position and settings of a transaction. */
export interface TransactionParents {
  /** The transactions that this one was started in, of whatever database. */
  readonly around: TransactionChain | undefined
  /** The scope of the same transaction that waits for this one. */
  readonly parent: TransactionScope | undefined
  /** A failed statement leaves the scope usable, on PostgreSQL too. */
  readonly isForgiving: boolean
  readonly isReadOnly: boolean
  /** The indexes of the repository that began it. */
  readonly indexes?: TableIndexes | undefined
}
