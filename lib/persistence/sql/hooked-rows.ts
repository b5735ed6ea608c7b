import { isDeepStrictEqual } from 'node:util'
import type { RequestContext } from '../../context.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Values } from '../contract/new-entity.js'
import { canMatch } from '../contract/scope.js'
import type { Database, Executor } from '../engines/executor/executor.js'
import { patched } from '../hooks/changes.js'
import { Hooks, type WriteEvents } from '../hooks/call-hooks.js'
import { OutboxWriter } from '../outbox/sql/outbox-writer.js'
import { tableNameOf } from '../schema/table-name-of.js'
import { EntitySubscribers } from '../typeorm/subscribers.js'
import type { HookEvent } from '../../resource/typeorm/declared-hooks.js'
import type { Target } from '../references/row-target.js'
import { ChangedMeanwhile, type LateTransaction } from '../engines/executor/late-transaction.js'
import { EmittingRows, type EmittingRun, type RowStoreParts } from './emitting-rows.js'
import { referencesOf } from './row-store.js'
import { FOR_WRITE, type GetOptions } from './statements.js'

/** For a write with hooks: the context of the hooks, inside of the transaction of the write. */
export interface HookedRun extends EmittingRun {
  readonly inside?: RequestContext
  /** Where the transaction begins only when a hook needs it. */
  readonly late?: LateTransaction | undefined
}

/**
 * Writes the rows of a resource, and calls the entity's hooks around each write that the operation marks. Before a hook
 * of a stored entity is called, its row is read and locked.
 */
export class HookedRows<E extends object> extends EmittingRows<E> {
  constructor(
    model: ResourceModel<E>,
    private readonly hooks: Hooks<E>,
    parts: RowStoreParts,
  ) {
    super(model, parts)
  }

  /** A statement that writes many rows at once cannot call hooks for each row. */
  override canBatch(tenant: string | undefined): boolean {
    return super.canBatch(tenant) && !this.hooks.surround('update') && !this.hooks.surround('delete')
  }

  override async insert(on: Executor, values: Readonly<Values>, run: HookedRun): Promise<E> {
    const { inside } = run
    if (inside === undefined) return super.insert(on, values, run)
    const { before, after } = this.hooks.events.create
    // Of its own each time: after a deadlock the hooks begin again with what the caller gave.
    const changes = await this.hooks.before(before, patched(this.model, this.model.create(), values), inside)
    const late = this.#lateOf(run, after)
    const stored = await super.insert(
      late?.isNeeded === false ? late.instead : on,
      { ...values, ...changes },
      run,
    )
    await this.hooks.after(after, stored, inside)
    return stored
  }

  override async update(
    on: Executor,
    target: Target,
    patch: Readonly<Values>,
    run: HookedRun,
  ): Promise<E | undefined> {
    if (run.inside === undefined) return super.update(on, target, patch, run)
    const write = (to: Executor, row: Target, values: Values) => super.update(to, row, values, run)
    return this.#around(this.hooks.events.update, on, target, patch, run, write)
  }

  override async delete(
    on: Executor,
    target: Target,
    patch: Readonly<Values>,
    run: HookedRun,
  ): Promise<boolean> {
    if (run.inside === undefined) return super.delete(on, target, patch, run)
    const isSoft = this.model.deleteTime !== undefined
    const write = async (to: Executor, row: Target, values: Values, entity: E) => {
      if (isSoft) await this.references?.check(on, { ...entity, ...values }, values, row.tenant, run)
      return (await super.delete(to, row, isSoft ? values : patch, run)) ? entity : undefined
    }
    return (await this.#around(this.hooks.events.delete, on, target, patch, run, write)) !== undefined
  }

  override async undelete(
    on: Executor,
    target: Target,
    patch: Readonly<Values>,
    run: HookedRun,
  ): Promise<E | undefined> {
    if (run.inside === undefined) return super.undelete(on, target, patch, run)
    const write = async (to: Executor, row: Target, values: Values, entity: E) => {
      await this.references?.check(on, { ...entity, ...values }, values, row.tenant, run)
      return super.undelete(to, row, values, run)
    }
    return this.#around(this.hooks.events.undelete, on, target, patch, run, write)
  }

  /** Undefined when no row matches. */
  async #around(
    { before, after }: WriteEvents,
    on: Executor,
    target: Target,
    patch: Readonly<Values>,
    run: HookedRun,
    write: (to: Executor, row: Target, values: Values, entity: E) => Promise<E | undefined>,
  ): Promise<E | undefined> {
    const inside = run.inside as RequestContext
    // The etag is compared while the row is locked: a hook may write the row afterwards.
    const row = { ...target, ifMatch: undefined }
    const how: GetOptions = { showDeleted: before === 'BeforeRecover', lock: FOR_WRITE }
    const late = this.#lateOf(run, after)
    const read = (from: Executor) => this.getSeen(from, row, run, how)
    const seen = await read(late?.outside ?? on)
    if (seen === undefined || !this.#isMeant(seen.entity, how, target.ifMatch)) return undefined
    const { entity } = seen
    const stored = this.hooks.tellsDetails
      ? patched(this.model, this.model.create(), entity as Values)
      : undefined
    const told = (values: Readonly<Values>) =>
      stored === undefined ? {} : { stored, changed: Object.keys(values) }
    const changes = await this.hooks.before(before, patched(this.model, entity, patch), inside, told(patch))
    const values = { ...patch, ...changes }
    if (late?.isNeeded === false) {
      const written = await write(late.instead, { ...row, seen: seen.row }, values, entity)
      if (written === undefined) throw new ChangedMeanwhile()
      return written
    }
    if (late !== undefined && !isDeepStrictEqual((await read(on))?.row, seen.row))
      throw new ChangedMeanwhile()
    const written = await write(on, row, values, entity)
    if (written !== undefined) await this.hooks.after(after, written, inside, told(values))
    return written
  }

  /** Undefined where more statements than the write come after the hooks before it. */
  #lateOf({ late }: HookedRun, after: HookEvent): LateTransaction | undefined {
    const isAlone = this.references === undefined && this.model.events === undefined
    return isAlone && !this.hooks.hears(after) ? late : undefined
  }

  #isMeant(entity: E, { showDeleted }: GetOptions, ifMatch: string | undefined): boolean {
    const { deleteTime, etag } = this.model
    const values = entity as Values
    if (showDeleted === true && (deleteTime === undefined || values[deleteTime.property] === undefined))
      return false
    return (
      ifMatch === undefined || (canMatch(this.model, ifMatch) && values[etag?.property ?? ''] === ifMatch)
    )
  }
}

/** Makes the rows of every resource of a database, for what is deleted with others. */
export const hookedStores = (database: Database) => {
  const { dataSource, dialect } = database
  const outbox = OutboxWriter.of(database)
  return ({ model }: { readonly model: ResourceModel }) => {
    const hooks = new Hooks(model, new EntitySubscribers(dataSource, model))
    const references = referencesOf(model, database)
    const table = tableNameOf(model, dialect, dataSource)
    const store = new HookedRows(model, hooks, { dialect, table, references, outbox })
    return { store, surround: (operation: string) => hooks.surround(operation) }
  }
}
