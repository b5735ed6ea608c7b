import { Aborted, ErrNotFound } from '../../errors.js'
import { inKeyOrder, isUnconditional, type Patched } from '../contract/batch.js'
import { incrementsIn } from '../../resource/values/increment.js'
import type { Values } from '../contract/new-entity.js'
import { ambiguousKey, canMatch, type RowCondition, type Scope } from '../contract/scope.js'
import type { Executor, RunOptions } from '../engines/executor/executor.js'
import { byCodePoint } from '../../text/code-point-order.js'
import { isStorable } from '../query/reachable.js'
import { updateInGroups } from './batch-update.js'
import { explainDeletedMiss, explainIncrementMiss, explainMiss, notFound } from './preconditions.js'
import type { Target } from '../references/row-target.js'
import type { RowStore } from './row-store.js'

/**
 * How often a write is tried again when its increments were out of range, but the row read afterwards has room for
 * them.
 */
const INCREMENT_ATTEMPTS = 3

/** Writes rows by the caller's key. When no row was reached, throws the error that says why. */
export class RowWriter<E extends object> {
  constructor(private readonly rows: RowStore<E>) {}

  /** Which row a key means. Only a system call over all tenants has to search. */
  async target(on: Executor, row: RowCondition, run: RunOptions): Promise<Target> {
    return this.known(row) ?? this.search(on, row, run)
  }

  /** The row that the key means; undefined where it may be of several tenants. */
  known({ key, scope: { tenant, where }, ifMatch }: RowCondition): Target | undefined {
    if (!isStorable(key)) throw new ErrNotFound()
    const { model, references } = this.rows
    // A reference holds the tenant too.
    const isOpen = model.tenantInKey || (references !== undefined && model.tenant !== undefined)
    return isOpen && tenant === undefined ? undefined : { key, tenant, ifMatch, where }
  }

  async search(on: Executor, { key, scope, ifMatch }: RowCondition, run: RunOptions): Promise<Target> {
    const [tenant, other] = await this.rows.tenantsOf(on, key, run)
    if (other !== undefined) throw ambiguousKey(this.rows.model)
    return { key, tenant: tenant ?? '', ifMatch, where: scope.where }
  }

  async update(on: Executor, row: RowCondition, patch: Values, run: RunOptions): Promise<E> {
    const target = this.known(row) ?? (await this.search(on, row, run))
    for (let attempt = 0; attempt < INCREMENT_ATTEMPTS; attempt++) {
      const updated =
        row.ifMatch === undefined || canMatch(this.rows.model, row.ifMatch)
          ? await this.rows.update(on, target, patch, run)
          : undefined
      if (updated !== undefined) return updated
      const increments = incrementsIn(patch)
      if (increments.length === 0) return explainMiss(this.rows, on, target, run)
      await explainIncrementMiss(this.rows, on, target, increments, run)
    }
    throw new Aborted('the value to increment was changed at the same time again and again: call again')
  }

  /** In key order, so that two batches never wait for each other. */
  async updateMany(on: Executor, patches: readonly Patched[], scope: Scope, run: RunOptions): Promise<E[]> {
    if (!patches.every(({ key }) => isStorable(key))) return notFound()
    const { references } = this.rows
    const isReferring = references?.arePatched(patches.map(({ patch }) => patch)) === true
    const isPlain =
      !isReferring &&
      isUnconditional(patches) &&
      patches.every(({ patch }) => incrementsIn(patch).length === 0)
    if (isPlain && this.rows.canBatch(scope.tenant)) return updateInGroups(this.rows, on, patches, scope, run)
    const updated: E[] = []
    for (const { key, patch, index, ifMatch } of inKeyOrder(patches))
      updated[index] = await this.update(on, { key, scope, ifMatch }, patch, run)
    return updated
  }

  async delete(on: Executor, row: RowCondition, patch: Values, run: RunOptions): Promise<void> {
    const target = await this.target(on, row, run)
    const deleted =
      (target.ifMatch === undefined || canMatch(this.rows.model, target.ifMatch)) &&
      (await this.rows.delete(on, target, patch, run))
    if (!deleted) await explainMiss(this.rows, on, target, run)
  }

  async deleteMany(
    on: Executor,
    keys: readonly string[],
    scope: Scope,
    patch: Values,
    run: RunOptions,
  ): Promise<void> {
    if (!keys.every(isStorable)) return notFound()
    if (keys.length > 0 && this.rows.canBatch(scope.tenant)) {
      const deleted = await this.rows.batchDelete(on, keys, scope, patch, run)
      if (deleted < keys.length) throw new ErrNotFound()
      return
    }
    for (const key of [...keys].sort(byCodePoint)) {
      const target = await this.target(on, { key, scope }, run)
      if (!(await this.rows.delete(on, target, patch, run))) throw new ErrNotFound()
    }
  }

  async undelete(on: Executor, row: RowCondition, patch: Values, run: RunOptions): Promise<E> {
    const target = await this.target(on, row, run)
    const restored =
      target.ifMatch === undefined || canMatch(this.rows.model, target.ifMatch)
        ? await this.rows.undelete(on, target, patch, run)
        : undefined
    return restored ?? explainDeletedMiss(this.rows, on, target, run)
  }
}
