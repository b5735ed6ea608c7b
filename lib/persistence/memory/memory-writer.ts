import type { RequestContext } from '../../context.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { inKeyOrder, type Patched } from '../contract/batch.js'
import type { Values } from '../contract/new-entity.js'
import type { ReferenceAccess } from '../contract/related-options.js'
import type { RowCondition, Scope } from '../contract/scope.js'
import { patched } from '../hooks/changes.js'
import type { Hooks, WriteEvents } from '../hooks/call-hooks.js'
import { byCodePoint } from '../../text/code-point-order.js'
import type { MemoryRows } from './memory-database.js'
import type { MemoryReferable, MemoryReferences } from './memory-references.js'
import type { Log, MemoryTable, Telling } from './memory-table.js'

/** Of a write with hooks around it: the context that they are called with, in the transaction of the write. */
export interface HookedMemoryRows extends MemoryRows {
  readonly inside?: RequestContext
  /** What the caller of the write may refer to; everything when left out. */
  readonly referable?: MemoryReferable | undefined
}

/** How a row is replaced. */
interface Replacing {
  readonly telling?: Telling | undefined
  readonly referable?: MemoryReferable | undefined
}

/** Writes rows by the key that a caller names, with the entity's hooks around each where the operation says so. */
export class MemoryWriter<E extends object> {
  constructor(
    private readonly model: ResourceModel<E>,
    private readonly table: MemoryTable<E>,
    private readonly hooks: Hooks<E>,
    private readonly references?: MemoryReferences,
  ) {}

  /** With what the caller may refer to, which is asked before the change. @param written - what the caller writes, row by row. */
  async referring(
    rows: HookedMemoryRows,
    access: ReferenceAccess | undefined,
    written: readonly Readonly<Values>[],
  ): Promise<HookedMemoryRows> {
    const referable = await this.references?.referable(access, written)
    return referable === undefined ? rows : { ...rows, referable }
  }

  /** @param columns - of secrets and credentials. */
  async insert(rows: HookedMemoryRows, entity: E, columns: Readonly<Values>): Promise<E> {
    const { inside, referable } = rows
    const { before, after } = this.hooks.events.create
    if (inside !== undefined) await this.hooks.before(before, entity, inside)
    const row = this.table.rowOf(entity, columns)
    await written(rows, (log) => {
      this.references?.check(row, row, referable)
      this.table.insert(row, log)
    })
    const stored = this.table.entityOf(row)
    if (inside !== undefined) await this.hooks.after(after, stored, inside)
    return stored
  }

  async update(rows: HookedMemoryRows, row: RowCondition, patch: Readonly<Values>): Promise<E> {
    const { referable } = rows
    if (rows.inside === undefined) return written(rows, (log) => this.#update(row, patch, log, referable))
    const find = () => this.table.liveRow(row.key, row.scope)
    return this.#around(this.hooks.events.update, rows, find, row, patch, (stored, values, log) =>
      this.#replace(stored, values, log, { referable }),
    )
  }

  async updateMany(rows: HookedMemoryRows, patches: readonly Patched[], scope: Scope): Promise<E[]> {
    const updated: E[] = []
    const sorted = inKeyOrder(patches).map(({ index, patch, ...row }) => ({ index, patch, ...row, scope }))
    if (rows.inside === undefined)
      await written(rows, (log) => {
        for (const { index, patch, ...row } of sorted)
          updated[index] = this.#update(row, patch, log, rows.referable)
      })
    else for (const { index, patch, ...row } of sorted) updated[index] = await this.update(rows, row, patch)
    return updated
  }

  /** @param patch - what a soft delete changes. */
  async delete(
    rows: HookedMemoryRows,
    row: RowCondition,
    patch: Readonly<Values>,
    telling?: Telling,
  ): Promise<void> {
    if (rows.inside === undefined) return rows.write((log) => this.#delete(row, patch, log, telling))
    const find = () => this.table.liveRow(row.key, row.scope)
    await this.#around(this.hooks.events.delete, rows, find, row, patch, (stored, values, log) => {
      if (this.model.deleteTime !== undefined) return this.#replace(stored, values, log, { telling })
      this.table.remove(stored, log)
      return this.table.entityOf(stored)
    })
  }

  async deleteMany(
    rows: HookedMemoryRows,
    keys: readonly string[],
    scope: Scope,
    patch: Readonly<Values>,
  ): Promise<void> {
    if (rows.inside === undefined)
      await rows.write((log) => {
        for (const key of keys) this.#delete({ key, scope }, patch, log)
      })
    else for (const key of [...keys].sort(byCodePoint)) await this.delete(rows, { key, scope }, patch)
  }

  async undelete(rows: HookedMemoryRows, row: RowCondition, patch: Readonly<Values>): Promise<E> {
    const { key, scope } = row
    const find = () => {
      const deleted = this.table.find(key, scope.tenant).filter((one) => !this.table.isLive(one))
      return this.table.only(this.table.within(deleted, scope))
    }
    if (rows.inside === undefined)
      return rows.write((log) => this.#replace(this.table.matching(find(), row.ifMatch), patch, log))
    return this.#around(this.hooks.events.undelete, rows, find, row, patch, (stored, values, log) =>
      this.#replace(stored, values, log),
    )
  }

  /** Removes what has expired. Returns how many rows. */
  purge({ write }: HookedMemoryRows, before: Date, { tenant }: Scope): Promise<number> {
    return write((log) => {
      const expired = this.table.expired(before, tenant)
      for (const row of expired) this.table.remove(row, log, 'purged')
      return expired.length
    })
  }

  async #around(
    { before, after }: WriteEvents,
    rows: HookedMemoryRows,
    find: () => Values,
    { ifMatch }: RowCondition,
    patch: Readonly<Values>,
    change: (row: Values, values: Values, log: Log) => E,
  ): Promise<E> {
    const entity = await rows.read(() => this.table.entityOf(this.table.matching(find(), ifMatch)))
    const context = rows.inside as RequestContext
    const changes = await this.hooks.before(before, patched(this.model, entity, patch), context)
    // The etag has been compared: a hook may have written the row since.
    const changed = await written(rows, (log) => change(find(), { ...patch, ...changes }, log))
    await this.hooks.after(after, changed, context)
    return changed
  }

  #update(row: RowCondition, patch: Readonly<Values>, log: Log, referable?: MemoryReferable): E {
    const stored = this.table.matching(this.table.liveRow(row.key, row.scope), row.ifMatch)
    return this.#replace(stored, patch, log, { referable })
  }

  #replace(row: Values, patch: Readonly<Values>, log: Log, { telling, referable }: Replacing = {}): E {
    this.references?.check(row, patch, referable)
    return this.table.entityOf(this.table.replace(row, patch, log, telling))
  }

  #delete(row: RowCondition, patch: Readonly<Values>, log: Log, telling?: Telling): void {
    const stored = this.table.matching(this.table.liveRow(row.key, row.scope), row.ifMatch)
    if (this.model.deleteTime === undefined) this.table.remove(stored, log)
    else this.table.replace(stored, patch, log, telling)
  }
}

/** Runs a change, which may have to know first what the caller may refer to. */
const written = <T>({ write, referable }: HookedMemoryRows, change: (log: Log) => T): Promise<T> =>
  referable === undefined ? write(change) : referable.during(() => write(change))
