import type { ResourceModel } from '../../resource/resource-model.js'
import { partIn } from '../../resource/keys/key-part.js'
import { incrementsIn } from '../../resource/values/increment.js'
import type { Values } from '../contract/new-entity.js'
import type { TableName } from '../dialects/catalog/table-definition.js'
import type { Dialect } from '../dialects/dialect.js'
import { quoteTable } from '../dialects/quote-table.js'
import { named } from '../engines/executor/named.js'
import type { Database, Executor, Statement } from '../engines/executor/executor.js'
import { ReferencesChanged } from '../references/checked-references.js'
import { inRange } from '../rows/misses.js'
import type { SqlCall } from '../rows/row-call.js'
import type { Reach } from '../contract/scope.js'
import {
  type Batches,
  FOR_WRITE,
  type GetOptions,
  type RowPatch,
  type Rows,
  type RowWrite,
} from '../rows/rows.js'
import { moved, NotInserted, suppressed } from '../rows/suppressed-writes.js'

/**
 * Determines if triggers of a table may suppress writes. The catalog is read once, before the first write.
 */
export class SuppressingTriggers {
  readonly #asked: Statement | undefined
  readonly #table: string
  /** The result. Undefined until the catalog is read. */
  known: boolean | undefined
  #reading: Promise<boolean> | undefined

  constructor(
    private readonly database: Database,
    table: TableName,
  ) {
    const {
      catalog: { suppressingTriggers },
      ...dialect
    } = database.dialect
    this.#asked = suppressingTriggers === undefined ? undefined : named(suppressingTriggers)
    this.#table = quoteTable(table, dialect)
    if (this.#asked === undefined) this.known = false
  }

  /**
   * Reads the catalog. Calls outside transactions share one read; none of them holds a connection meanwhile.
   */
  async read({ on, signal }: Pick<SqlCall, 'on' | 'signal'>): Promise<boolean> {
    if (this.known !== undefined || this.#asked === undefined) return this.known === true
    if (on !== this.database) return this.#ask(this.#asked, on, signal)
    this.#reading ??= this.#ask(this.#asked, on, undefined).finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #ask(asked: Statement, on: Executor, signal: SqlCall['signal']): Promise<boolean> {
    const { rows } = await on.run(asked, [this.#table], { calls: 0, ...(signal && { signal }) })
    return (this.known = rows.length > 0)
  }
}

/**
 * Distinguishes suppressed writes from missing rows, and finds rows whose tenant a trigger has changed. Its
 * writes run in a transaction, so that an error rolls back the trigger's effects.
 */
export class GuardedRows<E extends object> implements Rows<E> {
  readonly get: Rows<E>['get']

  constructor(
    private readonly next: Rows<E>,
    private readonly model: ResourceModel<E>,
    private readonly dialect: Dialect,
    private readonly triggers: SuppressingTriggers,
  ) {
    this.get = next.get.bind(next)
  }

  get insertsAtOnce(): boolean {
    return this.next.insertsAtOnce
  }

  batches(tenant: string | undefined, patches: readonly Readonly<Values>[]): Batches<E> | undefined {
    const next = this.next.batches(tenant, patches)
    return (
      next && {
        batchUpdate: async (call, items, reach) =>
          (this.triggers.known ?? (await this.triggers.read(call)))
            ? this.#updateEach(call, items, reach)
            : next.batchUpdate(call, items, reach),
        batchDelete: async (call, keys, reach, values) =>
          (this.triggers.known ?? (await this.triggers.read(call)))
            ? this.#deleteEach(call, keys, reach, values)
            : next.batchDelete(call, keys, reach, values),
      }
    )
  }

  batchGet(call: SqlCall, keys: readonly string[], reach: Reach, how?: GetOptions): Promise<E[]> {
    return this.next.batchGet(call, keys, reach, how)
  }

  async insert(call: SqlCall, write: RowWrite): Promise<E> {
    if (!(this.triggers.known ?? (await this.triggers.read(call)))) return this.next.insert(call, write)
    try {
      return this.#ofTenant(await this.next.insert(call, write), write.row, call)
    } catch (error) {
      const isLeftOut = error instanceof NotInserted || error instanceof ReferencesChanged
      throw isLeftOut ? suppressed(this.model, 'created', call.context) : error
    }
  }

  async update(call: SqlCall, write: RowWrite): Promise<E | undefined> {
    if (!(this.triggers.known ?? (await this.triggers.read(call)))) return this.next.update(call, write)
    const increments = incrementsIn(write.values)
    const row = increments.length === 0 ? write.row : inRange(write.row, increments, this.dialect)
    const before = await this.next.get(call, row, { lock: FOR_WRITE })
    const updated = before && (await this.next.update(call, write))
    if (before !== undefined && updated === undefined) throw suppressed(this.model, 'updated', call.context)
    return updated && this.#ofTenant(updated, write.row, call)
  }

  async delete(call: SqlCall, write: RowWrite): Promise<boolean> {
    if (!(this.triggers.known ?? (await this.triggers.read(call)))) return this.next.delete(call, write)
    const before = await this.next.get(call, write.row, { lock: FOR_WRITE })
    if (before === undefined) return false
    if (!(await this.next.delete(call, write))) throw suppressed(this.model, 'deleted', call.context)
    return true
  }

  async undelete(call: SqlCall, write: RowWrite): Promise<E | undefined> {
    if (!(this.triggers.known ?? (await this.triggers.read(call)))) return this.next.undelete(call, write)
    const before = await this.next.get(call, write.row, { lock: FOR_WRITE, showDeleted: true })
    const { deleteTime } = this.model
    const isDeleted =
      before !== undefined &&
      deleteTime !== undefined &&
      (before as Values)[deleteTime.property] !== undefined
    const restored = isDeleted ? await this.next.undelete(call, write) : undefined
    if (isDeleted && restored === undefined) throw suppressed(this.model, 'undeleted', call.context)
    return restored
  }

  /**
   * Checks the tenant of a written row, and returns the row.
   *
   * @throws Internal if a trigger has changed the row's tenant.
   */
  #ofTenant(written: E, { tenant }: Reach, { context }: SqlCall): E {
    const { tenant: field } = this.model
    if (field === undefined || tenant === undefined || partIn(field, written) === tenant) return written
    throw moved(this.model, context)
  }

  async #updateEach(call: SqlCall, items: readonly RowPatch[], reach: Reach): Promise<(E | undefined)[]> {
    const updated: (E | undefined)[] = []
    for (const { key, patch } of items)
      updated.push(await this.update(call, { row: { ...reach, key }, values: patch }))
    return updated
  }

  async #deleteEach(
    call: SqlCall,
    keys: readonly string[],
    reach: Reach,
    values: Readonly<Values>,
  ): Promise<number> {
    let deleted = 0
    for (const key of [...keys].sort(this.model.keys.compare))
      if (await this.delete(call, { row: { ...reach, key }, values })) deleted++
    return deleted
  }
}
