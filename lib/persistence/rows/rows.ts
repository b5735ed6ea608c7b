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

/** A write of one row. Decorators of the row store copy and extend it. */
export interface RowWrite {
  readonly row: Target
  /** The values by property: all stored fields of a new row, or the changed fields of an existing one. */
  readonly values: Readonly<Values>
  /** True if the repository generated the key of a new row, so that no other row can have it. */
  readonly isKeyMade?: boolean
  /** Generates the key of a new row, if neither the caller nor a hook sets it. */
  readonly newKey?: () => PartValue
  /**
   * The rows that it refers to. The statement first selects and locks each (`FOR SHARE` on PostgreSQL), and
   * writes nothing if one is missing. Empty if they are already locked.
   */
  readonly parents?: readonly Parent[]
  /** The event that the statement inserts together with a new row. */
  readonly event?: OutboxRow | undefined
  /** True if the row is removed next. Its removal is then reported instead of this write. */
  readonly isRemovedNext?: boolean
}

/** Options of a read. By default only live rows are read. */
export interface GetOptions {
  readonly showDeleted?: boolean
  readonly lock?: LockClause | undefined
  /** The maximum bytes of several rows. Default: no limit. */
  readonly maxBytes?: number | undefined
}

/** The lock for rows that are written afterwards. */
export const FOR_WRITE: LockClause = { lock: 'update', wait: 'block' }

/** Reads and writes many rows with one statement each. */
export interface Batches<E, C extends RowCall = SqlCall> {
  /**
   * Returns the updated entities in the order of the items, which is also the lock order, with `undefined`
   * for keys without a live row. All items write the same fields.
   */
  batchUpdate(call: C, items: readonly RowPatch[], reach: Reach): Promise<(E | undefined)[]>
  /** Returns the number of deleted rows. */
  batchDelete(call: C, keys: readonly string[], reach: Reach, values: Readonly<Values>): Promise<number>
}

/** The values to write to one row of a batch. */
export type RowPatch = Pick<Patched, 'key' | 'patch'>

/**
 * Reads and writes the rows of one resource. One implementation is the store. The others wrap another `Rows`,
 * add work before or after its calls, and delegate the rest.
 */
export interface Rows<E, C extends RowCall = SqlCall> {
  /**
   * True if one statement inserts a new row and everything that belongs to it. Once true, it stays true
   * unless the database's tables become distributed.
   */
  readonly insertsAtOnce: boolean
  /**
   * Returns undefined if rows must be written one by one.
   *
   * @param patches - the values to write.
   */
  batches(tenant: string | undefined, patches: readonly Readonly<Values>[]): Batches<E, C> | undefined
  /** Resolves to undefined if no row matches. */
  get(call: C, row: Target, how?: GetOptions): Promise<E | undefined>
  insert(call: C, write: RowWrite): Promise<E>
  /** Resolves to undefined if no live row matches, or if an increment would exceed its range. */
  update(call: C, write: RowWrite): Promise<E | undefined>
  /** Resolves to true if a live row was deleted. */
  delete(call: C, write: RowWrite): Promise<boolean>
  /** Resolves to undefined if no deleted row matches. */
  undelete(call: C, write: RowWrite): Promise<E | undefined>
  /** Returns the rows with these keys, without missing ones. */
  batchGet(call: C, keys: readonly string[], reach: Reach, how?: GetOptions): Promise<E[]>
}

/** Finds rows by the stored values of secrets and credentials. */
export interface Finds<E, C extends RowCall = SqlCall> {
  /**
   * Returns at most two live rows with this value, in key order, including the columns that are not part of
   * the entity. Without a tenant, rows of all tenants are searched.
   */
  find(call: C, field: Field, value: string, reach: Reach): Promise<readonly CredentialRow<E>[]>
}
