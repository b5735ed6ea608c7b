import { RequestContext } from '../../context.js'
import { joined } from './open-transaction.js'

/**
 * `update` prevents other transactions from locking and writing the row. `share` only prevents writes.
 * @inline
 */
export type RowLock = 'update' | 'share'

/** The behavior if another transaction has locked a row: wait for it, fail immediately, or omit the row. */
export type LockWait = 'block' | 'nowait' | 'skip'

/** The lock on the rows that are read, held until the transaction ends. */
export interface LockClause {
  readonly lock: RowLock
  readonly wait: LockWait
}

/**
 * Marks the options of a locking read whose rows are written in the same transaction. If other transactions
 * have changed the rows, the transaction is aborted.
 */
export const WILL_WRITE = Symbol('will write')

/** The options of a read whose rows are written afterwards. */
export const forWrite = { lock: 'update', [WILL_WRITE]: true } as const

const LOCKS: readonly unknown[] = ['update', 'share']
const WAITS: readonly unknown[] = ['block', 'nowait', 'skip']

/**
 * Returns the lock that a read requests, or undefined if it requests none.
 *
 * @param name - the operation, for the error.
 * @throws TypeError if the lock is unknown, or requested outside a transaction or in a read-only one.
 */
export function lockOf(
  database: object,
  name: string,
  { lock, wait, context }: Partial<LockClause> & { readonly context?: RequestContext } = {},
  { mayLeaveOut = false } = {},
): LockClause | undefined {
  if (lock === undefined) {
    if (wait === undefined) return undefined
    throw new TypeError(`${name} with wait and without lock: name the lock to wait for`)
  }
  if (!LOCKS.includes(lock)) throw new TypeError(`lock of ${name} must be 'update' or 'share'`)
  if (wait !== undefined && !WAITS.includes(wait))
    throw new TypeError(`wait of ${name} must be 'block' or 'nowait', or 'skip' for a list`)
  if (wait === 'skip' && !mayLeaveOut)
    throw new TypeError(`${name} with wait: 'skip': only a list can skip locked rows`)
  const transaction = joined(database, context)
  if (transaction === undefined)
    throw new TypeError(`${name} with a lock outside a transaction, which would release the lock at once`)
  transaction.refuseReadOnly(`${name} with a lock`)
  return { lock, wait: wait ?? 'block' }
}
