import type { RequestContext } from '../../context.js'
import type { Field } from '../../resource/fields/field.js'
import type { CredentialField } from '../../resource/resource-model.js'
import type { SpecsInUse } from '../../secrets/specs-in-use.js'
import type { CountPlan, ListPlan } from '../contract/list-plan.js'
import type { Values } from '../contract/new-entity.js'
import type { Page, TransactionOptions } from '../contract/repository.js'
import type { LockClause } from '../contract/row-lock.js'
import type { Reach, Scope } from '../contract/scope.js'
import type { Member } from '../deletion/rules/family.js'
import type { FamilyRows } from '../deletion/rules/family-writer.js'
import type { KeptOfPage } from '../dialects/values/hand-over.js'
import type { Hooks, ManagerOf } from '../hooks/call-hooks.js'
import type { Reading } from '../relations/related-rows.js'
import type { CipherRows } from '../rows/cipher-rows.js'
import type { RowCall } from '../rows/row-call.js'
import type { WrittenResource } from '../rows/row-writer.js'
import type { Finds, Rows } from '../rows/rows.js'
import type { Operations } from './operations.js'
import type { PurgeChunk } from './purge-expired.js'

/** Options for reading the rows of a page. */
export interface PageOptions {
  readonly lock?: LockClause | undefined
  /** The values that the statement stores for later statements of the same round trip. */
  readonly kept?: KeptOfPage | undefined
  /** The maximum size of the page in bytes. Default: no limit. */
  readonly maxBytes?: number | undefined
}

/** Reads a list. */
export interface PageReading<C extends RowCall> {
  readonly call: C
  readonly kept: KeptOfPage | undefined
}

/** Reads the relations of entities. */
export interface Relations<C extends RowCall> {
  /** Prepares reading a list and then the relations of its entities. */
  pageOn(call: C, paths: readonly string[], scope: Scope): PageReading<C>
  read(entities: readonly object[], paths: readonly string[], reading: Reading<C>): Promise<void>
}

/**
 * Writes live rows that match `where` in one statement, at most `limit`. Returns their number, or undefined
 * if triggers of the table require one statement per row.
 */
export type WriteWhere<C extends RowCall> = (
  call: C,
  kind: 'update' | 'delete',
  reach: Reach,
  values: Readonly<Values>,
  limit: number,
) => Promise<number | undefined>

/** Reads and writes the rows of one resource. Contains all differences between memory and databases. */
export interface RowsBackend<E extends object, C extends RowCall, X extends RequestContext> {
  /** The owner of transactions. */
  readonly database: object
  readonly operations: Operations<C>
  readonly rows: Rows<E, C>
  readonly resource: WrittenResource<C>
  readonly finds: Finds<E, C>
  readonly relations: Relations<C>
  readonly hooks: Hooks<E>
  readonly family: FamilyRows<C>
  /** Returns the resource's relations, or undefined if it has none or they are not yet known. */
  memberOf(): Member | undefined
  list(call: C, plan: ListPlan, tenant: string | undefined, how: PageOptions): Promise<Page<E>>
  count(call: C, plan: CountPlan, tenant: string | undefined): Promise<number>
  readonly purge: PurgeChunk<C>
  /**
   * Returns the tenants that have expired rows, or undefined if rows of several tenants can be removed
   * together.
   */
  readonly expiredTenants?: ((call: C, before: Date) => Promise<readonly string[] | undefined>) | undefined
  readonly writeWhere?: WriteWhere<C>
  readonly ciphers: CipherRows<C>
  /** Returns true if a row of any tenant, even a deleted one, has the value. */
  isTaken(field: Field, value: string, given: RequestContext | undefined): Promise<boolean>
  /**
   * Returns the hash parameters of the stored credentials. Returns undefined in memory and in a transaction.
   */
  specsOf(call: C, credential: CredentialField): SpecsInUse | undefined
  /** Returns TypeORM's manager in the call's transaction. */
  readonly managerOf: (call: C) => ReturnType<ManagerOf>
  transaction<R>(fn: (context: X) => Promise<R>, options?: TransactionOptions): Promise<R>
}
