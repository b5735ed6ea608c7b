import type { Values } from '../contract/new-entity.js'
import type { SqlCall } from '../rows/row-call.js'
import type { Reach, Target } from '../rows/row-target.js'
import type { Batches, GetOptions, Rows, RowWrite } from '../rows/rows.js'
import type { References } from './checked-references.js'

/**
 * Makes sure of the targets of what a write refers to, and puts those into the write that its statement
 * takes.
 */
export class ReferringRows<E extends object> implements Rows<E> {
  constructor(
    private readonly next: Rows<E>,
    private readonly references: References,
  ) {}

  get insertsAtOnce(): boolean {
    return this.next.insertsAtOnce
  }

  /** One statement for many rows takes no others. */
  batches(tenant: string | undefined, patches: readonly Readonly<Values>[]): Batches<E> | undefined {
    return this.references.arePatched(patches) ? undefined : this.next.batches(tenant, patches)
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
