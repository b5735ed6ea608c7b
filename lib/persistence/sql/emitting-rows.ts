import { RequestContext } from '../../context.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Patched } from '../contract/batch.js'
import type { Values } from '../contract/new-entity.js'
import type { Dialect } from '../dialects/dialect.js'
import type { TableName } from '../dialects/catalog/table-definition.js'
import type { TableOf } from '../dialects/joined-rows.js'
import type { Executor, RunOptions } from '../engines/executor/executor.js'
import { patched } from '../hooks/changes.js'
import { type Change, ChangeEvents } from '../outbox/events/change-events.js'
import type { TableRules } from '../merging/table-rules.js'
import { outboxValues, type OutboxWriter } from '../outbox/sql/outbox-writer.js'
import type { OutboxRow } from '../outbox/events/outbox-row.js'
import type { References } from '../references/references.js'
import type { Reach, Target } from '../references/row-target.js'
import { writtenEntityOf } from './row-codec.js'
import { RowStore, type WriteRun } from './row-store.js'
import { FOR_WRITE } from './statements.js'

/** For a write that is told: the call that it is made for. */
export interface EmittingRun extends WriteRun {
  readonly context?: RequestContext
  /** The row is removed next, which is told instead. */
  readonly untold?: boolean
}

/** Where the rows of a resource are, and what they refer to. */
export interface RowStoreParts {
  readonly dialect: Dialect
  readonly table: TableName
  readonly references?: References | undefined
  /** The tables of other resources, for lists that lead there. */
  readonly tableOf?: TableOf
  /** Where events go. */
  readonly outbox: OutboxWriter
  /** What is known of the table. Without it, nothing is told in the statement of its row. */
  readonly rules?: TableRules | undefined
}

/**
 * Writes the rows of a resource, and an event for each row that has changed, in the same transaction. A row that is there already is
 * read and locked before it is written, so that what has changed is known. Without `@Emits()` it does nothing of its own.
 */
export class EmittingRows<E extends object> extends RowStore<E> {
  readonly #events: ChangeEvents<E> | undefined
  readonly #outbox: OutboxWriter
  readonly #rules: TableRules | undefined
  readonly #writtenEntity: (values: Readonly<Values>) => E
  #isKept = false

  constructor(
    model: ResourceModel<E>,
    { dialect, table, references, tableOf, outbox, rules }: RowStoreParts,
  ) {
    super(model, dialect, table, references, tableOf)
    this.#events = ChangeEvents.of(model)
    this.#outbox = outbox
    this.#rules = rules
    this.#writtenEntity = writtenEntityOf(model)
  }

  override get insertsAtOnce(): boolean {
    if (!super.insertsAtOnce || !this.tellsCreated || this.#isKept) return super.insertsAtOnce
    return (this.#isKept = this.#rules?.keeps(this.model.entityFields) === true)
  }

  /** Whether a new row is told. */
  protected get tellsCreated(): boolean {
    return this.#events?.hears('created') === true
  }

  override async insert(on: Executor, values: Readonly<Values>, run: EmittingRun): Promise<E> {
    if (!this.tellsCreated) return super.insert(on, values, run)
    if (this.insertsAtOnce) return super.insert(on, values, this.runAlong(values, run))
    const after = await super.insert(on, values, run)
    await this.#tell(on, [{ kind: 'created', after }], run)
    return after
  }

  /** For the statement that inserts these values, which inserts their event as well. */
  protected runAlong(values: Readonly<Values>, run: EmittingRun): EmittingRun {
    const [row] = this.#rowsOf([{ kind: 'created', after: this.#writtenEntity(values) }], run)
    return row === undefined
      ? run
      : { ...run, along: { insert: this.#outbox.along, values: outboxValues(row) } }
  }

  override async update(
    on: Executor,
    target: Target,
    patch: Readonly<Values>,
    run: EmittingRun,
  ): Promise<E | undefined> {
    if (this.#events?.hears('updated') !== true) return super.update(on, target, patch, run)
    const before = await this.#locked(on, target, run)
    const after = await super.update(on, target, patch, run)
    const hidden = this.#events.hiddenIn(patch)
    if (after !== undefined) await this.#tell(on, [{ kind: 'updated', before, after, hidden }], run)
    return after
  }

  override async delete(
    on: Executor,
    target: Target,
    patch: Readonly<Values>,
    run: EmittingRun,
  ): Promise<boolean> {
    if (run.untold === true || this.#events?.hears('deleted') !== true)
      return super.delete(on, target, patch, run)
    const before = await this.#locked(on, target, run)
    const isDeleted = before !== undefined && (await super.delete(on, target, patch, run))
    if (isDeleted) await this.#tell(on, [this.#deleted(before, patch)], run)
    return isDeleted
  }

  override async undelete(
    on: Executor,
    target: Target,
    patch: Readonly<Values>,
    run: EmittingRun,
  ): Promise<E | undefined> {
    if (this.#events?.hears('undeleted') !== true) return super.undelete(on, target, patch, run)
    const before = await this.#locked(on, target, run)
    const after = await super.undelete(on, target, patch, run)
    if (after !== undefined) await this.#tell(on, [{ kind: 'undeleted', before, after }], run)
    return after
  }

  override async batchUpdate(
    on: Executor,
    items: readonly Pick<Patched, 'key' | 'patch'>[],
    reach: Reach,
    run: EmittingRun,
  ): Promise<(E | undefined)[]> {
    const events = this.#events
    if (events?.hears('updated') !== true) return super.batchUpdate(on, items, reach, run)
    const stored = await this.#lockedBatch(
      on,
      items.map(({ key }) => key),
      reach,
      run,
    )
    const updated = await super.batchUpdate(on, items, reach, run)
    const changes = updated.flatMap((after, index): Change<E>[] => {
      const { key = '', patch = {} } = items[index] ?? {}
      if (after === undefined) return []
      return [{ kind: 'updated', before: stored.get(key), after, hidden: events.hiddenIn(patch) }]
    })
    await this.#tell(on, changes, run)
    return updated
  }

  override async batchDelete(
    on: Executor,
    keys: readonly string[],
    reach: Reach,
    patch: Readonly<Values>,
    run: EmittingRun,
  ): Promise<number> {
    if (this.#events?.hears('deleted') !== true) return super.batchDelete(on, keys, reach, patch, run)
    const stored = await this.#lockedBatch(on, keys, reach, run)
    const deleted = await super.batchDelete(on, [...stored.keys()], reach, patch, run)
    await this.#tell(
      on,
      [...stored.values()].map((before) => this.#deleted(before, patch)),
      run,
    )
    return deleted
  }

  /** Around the removal of rows that have expired, or that go with a removed one. @param remove - all that have the keys. */
  async purging(
    on: Executor,
    keys: readonly string[],
    tenant: string | undefined,
    run: EmittingRun,
    remove: () => Promise<unknown>,
  ): Promise<void> {
    if (this.#events?.hears('purged') !== true) return void (await remove())
    const gone = await this.batchGet(on, keys, { tenant }, run, { lock: FOR_WRITE, showDeleted: true })
    await remove()
    await this.#tell(
      on,
      gone.map((before) => ({ kind: 'purged', before })),
      run,
    )
  }

  #deleted(before: E, patch: Readonly<Values>): Change<E> {
    if (this.model.deleteTime === undefined) return { kind: 'deleted', before }
    const copy = patched(this.model, this.model.create(), before as Values)
    return { kind: 'deleted', before, after: patched(this.model, copy, patch) }
  }

  /** The row as it is, deleted or not, whatever its etag: the write that follows says whether it is the one that is meant. */
  #locked(on: Executor, target: Target, run: RunOptions): Promise<E | undefined> {
    return this.get(on, { ...target, ifMatch: undefined }, run, { showDeleted: true, lock: FOR_WRITE })
  }

  async #lockedBatch(
    on: Executor,
    keys: readonly string[],
    reach: Reach,
    run: RunOptions,
  ): Promise<Map<string, E>> {
    const stored = await this.batchGet(on, keys, reach, run, { lock: FOR_WRITE })
    const { property } = this.model.key
    return new Map(stored.map((entity) => [(entity as Values)[property] as string, entity]))
  }

  async #tell(on: Executor, changes: readonly Change<E>[], run: EmittingRun): Promise<void> {
    await this.#outbox.append(on, this.#rowsOf(changes, run), run)
  }

  #rowsOf(changes: readonly Change<E>[], { context }: EmittingRun): readonly OutboxRow[] {
    return this.#events?.rows(changes, context ?? RequestContext.current()) ?? []
  }
}
