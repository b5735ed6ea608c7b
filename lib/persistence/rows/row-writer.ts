import { Aborted, ErrNotFound } from '../../errors.js'
import type { Field } from '../../resource/fields/field.js'
import type { Range } from '../../resource/kinds/kind.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { incrementsIn } from '../../resource/values/increment.js'
import { dependsOnStored } from '../../resource/values/kept-unread.js'
import { checkElements } from '../bytes/check-elements.js'
import { sizeIn } from '../bytes/counted-bytes.js'
import { TooManyBytes } from '../bytes/too-many-bytes.js'
import { inKeyOrder, isUnconditional, type Patched } from '../contract/batch.js'
import type { Values } from '../contract/new-entity.js'
import { Precondition } from '../contract/precondition.js'
import { ambiguousKey, type RowCondition, type Scope } from '../contract/scope.js'
import { updateInGroups } from './batch-update.js'
import { explainDeletedMiss, explainIncrementMiss, explainMiss, notFound } from './misses.js'
import type { RowCall } from './row-call.js'
import type { Target } from './row-target.js'
import type { Rows } from './rows.js'
import { UnreadFields } from './unread-fields.js'

/**
 * The maximum number of attempts of a write whose increments were out of range, although the row read
 * afterwards has room for them.
 */
const INCREMENT_ATTEMPTS = 3

/** The properties of a resource that its writer uses. */
export interface WrittenResource<C extends RowCall> {
  readonly model: ResourceModel
  /** Returns the range of a column, if it is smaller than the field's. */
  readonly rangeOf: (field: Field) => Range | undefined
  /**
   * True if a column can contain a value that the field cannot hold. Undefined if only this process writes
   * the rows.
   */
  readonly holdsUnread?: (field: Field) => boolean
  /** True if rows have references, which include the tenant. */
  readonly refers: boolean
  /** Returns the tenants that have a row with the key, at most two. */
  tenantsOf(call: C, key: string): Promise<readonly string[]>
}

/**
 * Determines the row of a caller's key and writes it. If no row matches, throws the error with the reason.
 * Reads use it to determine the row, too.
 */
export class RowWriter<E extends object, C extends RowCall> {
  constructor(
    private readonly rows: Rows<E, C>,
    private readonly of: WrittenResource<C>,
  ) {}

  /**
   * Returns the row of a key. Only a system call across all tenants needs a search. The most frequent
   * operations, `get` and `update`, call the two parts directly, so that they do not await if the row is
   * known.
   */
  async target(call: C, row: RowCondition): Promise<Target> {
    return this.known(row) ?? this.search(call, row)
  }

  /** Returns the row of the key, or undefined if several tenants may have it. */
  known({ key: given, scope: { tenant, where }, ifMatch }: RowCondition): Target | undefined {
    const { model, refers } = this.of
    const key = model.keys.given(given)
    if (key === undefined) throw new ErrNotFound()
    const isOpen = model.tenantInKey || (refers && model.tenant !== undefined)
    return isOpen && tenant === undefined
      ? undefined
      : {
          key,
          tenant,
          precondition: ifMatch === undefined ? undefined : Precondition.of(model, ifMatch),
          where,
        }
  }

  /**
   * Returns the row of the one tenant that has the key.
   *
   * @throws InvalidArgument if several tenants have it.
   */
  async search(call: C, { key: given, scope, ifMatch }: RowCondition): Promise<Target> {
    const key = this.of.model.keys.given(given)
    if (key === undefined) throw new ErrNotFound()
    const [tenant, other] = await this.of.tenantsOf(call, key)
    if (other !== undefined) throw ambiguousKey(this.of.model)
    const precondition = Precondition.of(this.of.model, ifMatch)
    return { key, tenant: tenant ?? '', precondition, where: scope.where }
  }

  async update(call: C, condition: RowCondition, values: Values): Promise<E> {
    const row = this.known(condition) ?? (await this.search(call, condition))
    for (let attempt = 0; attempt < INCREMENT_ATTEMPTS; attempt++) {
      const updated = canHold(row) ? await this.rows.update(call, { row, values }) : undefined
      if (updated !== undefined) return this.#reportErased(updated, values)
      const increments = incrementsIn(values)
      if (increments.length === 0) return explainMiss(this.rows, call, row)
      await explainIncrementMiss(this.rows, this.of, call, row, increments)
    }
    throw new Aborted('the value to increment kept changing: call again')
  }

  /**
   * Updates rows in key order, which prevents deadlocks between two batches.
   *
   * @param maxBytes - the maximum size of all updated rows. Engines that can end a read count the rows as
   *   they arrive.
   */
  async updateMany(call: C, patches: readonly Patched[], scope: Scope, maxBytes = Infinity): Promise<E[]> {
    const { model } = this.of
    const { keys } = model
    if (!patches.every(({ key }) => keys.isKey(key))) return notFound()
    const values = patches.map(({ patch }) => patch)
    const isPlain = isUnconditional(patches) && !values.some(dependsOnStored)
    const batches = isPlain ? this.rows.batches(scope.tenant, values) : undefined
    if (batches !== undefined) {
      const limited = maxBytes === Infinity ? call : { ...call, maxBytes }
      const all = await updateInGroups(this.rows, batches, model, limited, patches, scope)
      checkElements(model, all, maxBytes)
      return all.map((entity, index) => this.#reportErased(entity, values[index] ?? {}))
    }
    const updated: E[] = []
    let [bytes, rows] = [0, 0]
    for (const { key, patch, index, ifMatch } of inKeyOrder(patches, keys)) {
      const entity = await this.update(call, { key, scope, ifMatch }, patch)
      if (maxBytes !== Infinity) bytes += sizeIn(model, entity)
      if (bytes > maxBytes && rows > 0) throw new TooManyBytes(maxBytes, rows)
      updated[index] = entity
      rows++
    }
    return updated
  }

  /** Reports that the update has overwritten unreadable JSON. */
  #reportErased(updated: E, values: Values): E {
    UnreadFields.of(this.of.model).updated(updated, values)
    return updated
  }

  async delete(call: C, condition: RowCondition, values: Values): Promise<void> {
    const row = await this.target(call, condition)
    const deleted = canHold(row) && (await this.rows.delete(call, { row, values }))
    if (!deleted) await explainMiss(this.rows, call, row)
  }

  async deleteMany(call: C, keys: readonly string[], scope: Scope, values: Values): Promise<void> {
    const { isKey, compare } = this.of.model.keys
    if (!keys.every(isKey)) return notFound()
    const batches = keys.length > 0 ? this.rows.batches(scope.tenant, []) : undefined
    if (batches !== undefined) {
      const deleted = await batches.batchDelete(call, keys, scope, values)
      if (deleted < keys.length) throw new ErrNotFound()
      return
    }
    for (const key of [...keys].sort(compare)) {
      const row = await this.target(call, { key, scope })
      if (!(await this.rows.delete(call, { row, values }))) throw new ErrNotFound()
    }
  }

  async undelete(call: C, condition: RowCondition, values: Values): Promise<E> {
    const row = await this.target(call, condition)
    const restored = canHold(row) ? await this.rows.undelete(call, { row, values }) : undefined
    return restored ?? explainDeletedMiss(this.rows, this.of.model, call, row)
  }
}

/** Returns false if no row can meet the precondition. */
const canHold = ({ precondition }: Target): boolean => precondition?.canHold !== false
