import type { ResourceModel } from '../../../resource/resource-model.js'
import type { Values } from '../../contract/new-entity.js'
import { patched } from '../../hooks/changes.js'
import type { SqlCall } from '../../rows/row-call.js'
import type { Reach } from '../../contract/scope.js'
import type { Target } from '../../rows/row-target.js'
import {
  type Batches,
  FOR_WRITE,
  type GetOptions,
  type RowPatch,
  type Rows,
  type RowWrite,
} from '../../rows/rows.js'
import type { Change, ChangeEvents } from '../events/change-events.js'
import type { OutboxWriter } from './outbox-writer.js'

/** Writes a new row and its event in one statement. */
export interface WrittenRows<E> {
  /**
   * Returns true if reads return the values exactly as written, so that the event can be created before the
   * row.
   */
  isKept(): boolean
  /** Returns the entity as a read would. */
  entityOf(values: Readonly<Values>): E
}

/**
 * Writes an event for each changed row, in the same transaction. Existing rows are read and locked before the
 * write to determine their changes.
 */
export class EmittingRows<E extends object> implements Rows<E> {
  #isKept = false

  constructor(
    private readonly next: Rows<E>,
    private readonly model: ResourceModel<E>,
    private readonly events: ChangeEvents<E>,
    private readonly outbox: OutboxWriter,
    private readonly written: WrittenRows<E>,
  ) {}

  get insertsAtOnce(): boolean {
    if (!this.next.insertsAtOnce || !this.events.includes('created')) return this.next.insertsAtOnce
    if (!this.outbox.isBeside) return false
    if (this.#isKept) return true
    // The event contains the key and the values that the table sets, which are only known after the insert.
    if (this.model.key.isIdentity === true || this.model.isFilledByTable) return false
    return (this.#isKept = this.written.isKept())
  }

  batches(tenant: string | undefined, patches: readonly Readonly<Values>[]): Batches<E> | undefined {
    const next = this.next.batches(tenant, patches)
    return (
      next && {
        batchUpdate: (call, items, reach) => this.#batchUpdate(next, call, items, reach),
        batchDelete: (call, keys, reach, values) => this.#batchDelete(next, call, keys, reach, values),
      }
    )
  }

  get(call: SqlCall, row: Target, how?: GetOptions): Promise<E | undefined> {
    return this.next.get(call, row, how)
  }

  async insert(call: SqlCall, write: RowWrite): Promise<E> {
    if (!this.events.includes('created')) return this.next.insert(call, write)
    // Outside a transaction, a failure could lose an event that a second statement inserts.
    if (this.insertsAtOnce || (this.#isKept && this.outbox.isPool(call.on))) {
      const after = this.written.entityOf(write.values)
      const [event] = this.events.rows([{ kind: 'created', after }], call.context)
      return this.next.insert(call, { ...write, event })
    }
    const after = await this.next.insert(call, write)
    await this.#tell(call, [{ kind: 'created', after }])
    return after
  }

  async update(call: SqlCall, write: RowWrite): Promise<E | undefined> {
    if (!this.events.includes('updated')) return this.next.update(call, write)
    const before = await this.#locked(call, write)
    const after = await this.next.update(call, write)
    const hidden = this.events.hiddenIn(write.values)
    if (after !== undefined) await this.#tell(call, [{ kind: 'updated', before, after, hidden }])
    return after
  }

  async delete(call: SqlCall, write: RowWrite): Promise<boolean> {
    if (write.isRemovedNext === true || !this.events.includes('deleted')) return this.next.delete(call, write)
    const before = await this.#locked(call, write)
    const isDeleted = before !== undefined && (await this.next.delete(call, write))
    if (isDeleted) await this.#tell(call, [await this.#deletedNow(call, write, before)])
    return isDeleted
  }

  async undelete(call: SqlCall, write: RowWrite): Promise<E | undefined> {
    if (!this.events.includes('undeleted')) return this.next.undelete(call, write)
    const before = await this.#locked(call, write)
    const after = await this.next.undelete(call, write)
    if (after !== undefined) await this.#tell(call, [{ kind: 'undeleted', before, after }])
    return after
  }

  batchGet(call: SqlCall, keys: readonly string[], reach: Reach, how?: GetOptions): Promise<E[]> {
    return this.next.batchGet(call, keys, reach, how)
  }

  async #batchUpdate(next: Batches<E>, call: SqlCall, items: readonly RowPatch[], reach: Reach) {
    if (!this.events.includes('updated')) return next.batchUpdate(call, items, reach)
    const keys = items.map(({ key }) => key)
    const stored = await this.#lockedBatch(call, keys, reach)
    const updated = await next.batchUpdate(call, items, reach)
    const changes = updated.flatMap((after, index): Change<E>[] => {
      const { key = '', patch = {} } = items[index] ?? {}
      if (after === undefined) return []
      return [{ kind: 'updated', before: stored.get(key), after, hidden: this.events.hiddenIn(patch) }]
    })
    await this.#tell(call, changes)
    return updated
  }

  async #batchDelete(
    next: Batches<E>,
    call: SqlCall,
    keys: readonly string[],
    reach: Reach,
    values: Readonly<Values>,
  ) {
    if (!this.events.includes('deleted')) return next.batchDelete(call, keys, reach, values)
    const stored = await this.#lockedBatch(call, keys, reach)
    const deleted = await next.batchDelete(call, [...stored.keys()], reach, values)
    const changes = [...stored.values()].map((before) => this.#deleted(before, values))
    await this.#tell(call, changes)
    return deleted
  }

  /**
   * Writes events around the removal of expired rows, or of rows that are removed with another one.
   *
   * @param remove - removes all rows with the keys.
   */
  async purging(
    call: SqlCall,
    keys: readonly string[],
    tenant: string | undefined,
    remove: () => Promise<unknown>,
  ): Promise<void> {
    if (!this.events.includes('purged')) return void (await remove())
    const gone = await this.batchGet(call, keys, { tenant }, { lock: FOR_WRITE, showDeleted: true })
    await remove()
    const changes = gone.map((before): Change<E> => ({ kind: 'purged', before }))
    await this.#tell(call, changes)
  }

  /** Returns the change of a delete, including values that the table has changed. */
  async #deletedNow(call: SqlCall, { row, values }: RowWrite, before: E): Promise<Change<E>> {
    const { deleteTime, isChangedByTable } = this.model
    if (deleteTime === undefined || !isChangedByTable) return this.#deleted(before, values)
    const { key, tenant } = row
    const after = await this.next.get(call, { key, tenant }, { showDeleted: true })
    return { ...this.#deleted(before, values), ...(after !== undefined && { after }) }
  }

  #deleted(before: E, values: Readonly<Values>): Change<E> {
    if (this.model.deleteTime === undefined) return { kind: 'deleted', before }
    const copy = patched(this.model, this.model.create(), before as Values)
    return { kind: 'deleted', before, after: patched(this.model, copy, values) }
  }

  /**
   * Returns the current row, even if it is deleted or has a different etag. The write that follows checks
   * both.
   */
  #locked(call: SqlCall, { row }: RowWrite): Promise<E | undefined> {
    return this.next.get(call, { ...row, precondition: undefined }, { showDeleted: true, lock: FOR_WRITE })
  }

  async #lockedBatch(call: SqlCall, keys: readonly string[], reach: Reach): Promise<Map<string, E>> {
    const stored = await this.next.batchGet(call, keys, reach, { lock: FOR_WRITE })
    return new Map(stored.map((entity) => [this.model.keys.textOf(entity), entity]))
  }

  #tell(call: SqlCall, changes: readonly Change<E>[]): Promise<void> {
    return this.outbox.append(call.on, this.events.rows(changes, call.context), call)
  }
}
