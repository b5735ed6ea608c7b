import type { Values } from '../contract/new-entity.js'
import type { SqlCall } from '../rows/row-call.js'
import type { Reach } from '../contract/scope.js'
import type { Target } from '../rows/row-target.js'
import type { Batches, GetOptions, RowPatch, Rows, RowWrite } from '../rows/rows.js'
import type { References } from './checked-references.js'

/** Checks the references of a write. If possible, the statement that writes also locks their targets. */
export class ReferringRows<E extends object> implements Rows<E> {
  constructor(
    private readonly next: Rows<E>,
    private readonly references: References,
  ) {}

  get insertsAtOnce(): boolean {
    return this.next.insertsAtOnce && this.references.areTaken
  }

  /** Returns writes for a batch that first lock the targets of new references. */
  batches(tenant: string | undefined, patches: readonly Readonly<Values>[]): Batches<E> | undefined {
    if (!this.references.arePatched(patches)) return this.next.batches(tenant, patches)
    const next = this.references.areKnownIn(patches, tenant) ? this.next.batches(tenant, patches) : undefined
    return (
      next && {
        batchUpdate: async (call, items, reach) => {
          const values = items.map(({ patch }) => patch)
          return (await this.references.lockAll(call, values, reach.tenant))
            ? next.batchUpdate(call, items, reach)
            : this.#oneByOne(call, items, reach)
        },
        batchDelete: (call, keys, reach, values) => next.batchDelete(call, keys, reach, values),
      }
    )
  }

  /** Updates rows one by one. Reports the first missing target, unless an earlier row is missing. */
  async #oneByOne(call: SqlCall, items: readonly RowPatch[], reach: Reach): Promise<(E | undefined)[]> {
    const updated: (E | undefined)[] = []
    for (const { key, patch } of items) {
      const one = await this.update(call, { row: { ...reach, key }, values: patch })
      updated.push(one)
      if (one === undefined) break
    }
    return updated
  }

  get(call: SqlCall, row: Target, how?: GetOptions): Promise<E | undefined> {
    return this.next.get(call, row, how)
  }

  insert(call: SqlCall, write: RowWrite): Promise<E> {
    return this.references.insert(this.next, call, write)
  }

  update(call: SqlCall, write: RowWrite): Promise<E | undefined> {
    return this.#refers(write)
      ? this.references.update(this.next, call, write)
      : this.next.update(call, write)
  }

  async delete(call: SqlCall, write: RowWrite): Promise<boolean> {
    if (this.#refers(write)) await this.references.check(this.next, call, write)
    return this.next.delete(call, write)
  }

  async undelete(call: SqlCall, write: RowWrite): Promise<E | undefined> {
    if (this.#refers(write)) await this.references.check(this.next, call, write)
    return this.next.undelete(call, write)
  }

  batchGet(call: SqlCall, keys: readonly string[], reach: Reach, how?: GetOptions): Promise<E[]> {
    return this.next.batchGet(call, keys, reach, how)
  }

  #refers({ values }: RowWrite): boolean {
    return this.references.arePatched([values])
  }
}
