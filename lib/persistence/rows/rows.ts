import type { Field } from '../../resource/fields/field.js'
import type { Patched } from '../contract/batch.js'
import type { PartValue } from '../../resource/keys/key-part.js'
import type { CredentialRow } from '../contract/credential-check.js'
import type { Values } from '../contract/new-entity.js'
import type { LockClause } from '../contract/row-lock.js'
import type { OutboxRow } from '../outbox/events/outbox-row.js'
import type { Parent } from './parents.js'
import type { RowCall, SqlCall } from './row-call.js'
import type { Reach } from '../contract/scope.js'
import type { Target } from './row-target.js'

/** One write of one row. What stands before the store adds to it by a copy. */
export interface RowWrite {
  readonly row: Target
  /** By property: all stored fields of a new row, or the changed fields of an existing one. */
  readonly values: Readonly<Values>
  /** True if the repository has made the key of a new row, so that no other row has it. */
  readonly isKeyMade?: boolean
  /** Generates the key of a new row that no caller has chosen, if no hook sets it. */
  readonly newKey?: () => PartValue
  /**
   * Rows that it refers to. The statement selects each of them before it writes, locks it (`FOR SHARE` on
   * PostgreSQL), and writes nothing where one is missing. Empty where they are locked already.
   */
  readonly parents?: readonly Parent[]
  /** The event that the statement inserts with a new row. */
  readonly event?: OutboxRow | undefined
  /** The row is removed next, and its removal is reported instead. */
  readonly isRemovedNext?: boolean
}

/** Options of a read. Default: live rows only. */
export interface GetOptions {
  readonly showDeleted?: boolean
  readonly lock?: LockClause | undefined
  /** The most bytes that several rows have; no limit when left out. */
  readonly maxBytes?: number | undefined
}

/** The lock for rows that are written afterwards. */
export const FOR_WRITE: LockClause = { lock: 'update', wait: 'block' }

/** Reads and writes of many rows in one statement each. */
export interface Batches<E, C extends RowCall = SqlCall> {
  /**
   * The updated entities in the order of the items, which is also the lock order. `undefined` where no live
   * row has the key. All items write the same fields.
   */
  batchUpdate(call: C, items: readonly RowPatch[], reach: Reach): Promise<(E | undefined)[]>
  /** The number of live rows. */
  batchDelete(call: C, keys: readonly string[], reach: Reach, values: Readonly<Values>): Promise<number>
}

/** The values to write to one row of a batch. */
export type RowPatch = Pick<Patched, 'key' | 'patch'>

/**
 * Reads and writes the rows of one resource. The store is one of them; others hold the next one, do something
 * before or after it, and hand on what they have nothing to do with.
 */
export interface Rows<E, C extends RowCall = SqlCall> {
  /**
   * True if a new row is written by one statement, whatever goes along with it. Once it is so, it stays so
   * unless the database's tables are distributed meanwhile.
   */
  readonly insertsAtOnce: boolean
  /** Undefined where rows are written one by one. @param patches - what is written. */
  batches(tenant: string | undefined, patches: readonly Readonly<Values>[]): Batches<E, C> | undefined
  /** Undefined when no row matches. */
  get(call: C, row: Target, how?: GetOptions): Promise<E | undefined>
  insert(call: C, write: RowWrite): Promise<E>
  /** Undefined when no live row matches, or none whose increments stay in range. */
  update(call: C, write: RowWrite): Promise<E | undefined>
  /** True if a live row was there. */
  delete(call: C, write: RowWrite): Promise<boolean>
  /** Undefined when no deleted row matches. */
  undelete(call: C, write: RowWrite): Promise<E | undefined>
  /** Rows by key, without the missing ones. */
  batchGet(call: C, keys: readonly string[], reach: Reach, how?: GetOptions): Promise<E[]>
}

/** Finds rows by what secrets and credentials are looked up by. */
export interface Finds<E, C extends RowCall = SqlCall> {
  /**
   * The live rows with this value, the first two by key, with the columns that are not part of the entity. Of
   * any tenant when none is given.
   */
  find(call: C, field: Field, value: string, reach: Reach): Promise<readonly CredentialRow<E>[]>
}
