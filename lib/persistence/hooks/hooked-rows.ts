import type { RequestContext } from '../../context.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { checkRequired, type Values } from '../contract/new-entity.js'
import type { RowCall } from '../rows/row-call.js'
import type { Reach } from '../contract/scope.js'
import { type Target, targetOf } from '../rows/row-target.js'
import { type Batches, FOR_WRITE, type GetOptions, type Rows, type RowWrite } from '../rows/rows.js'
import type { Hooks, WriteEvents } from './call-hooks.js'
import { patched } from './changes.js'

/**
 * Calls the entity's hooks around writes. Before a hook of a stored entity runs, its row is read and locked.
 * StandardRepository calls AfterLoad itself, once relations are loaded, because lists and lookups do not use
 * these rows.
 */
export class HookedRows<E extends object, C extends RowCall> implements Rows<E, C> {
  constructor(
    private readonly next: Rows<E, C>,
    private readonly hooks: Hooks<E>,
  ) {}

  get insertsAtOnce(): boolean {
    return this.next.insertsAtOnce
  }

  /**
   * Returns undefined if rows have hooks, because a statement for many rows could not call them for each row.
   */
  batches(tenant: string | undefined, patches: readonly Readonly<Values>[]): Batches<E, C> | undefined {
    const isSilent = !this.hooks.surround('update') && !this.hooks.surround('delete')
    return isSilent ? this.next.batches(tenant, patches) : undefined
  }

  get(call: C, row: Target, how?: GetOptions): Promise<E | undefined> {
    return this.next.get(call, row, how)
  }

  async insert(call: C, write: RowWrite): Promise<E> {
    const { inside } = call
    if (inside === undefined) return this.next.insert(call, keyed(this.#model, write.values, write))
    const { before, after } = this.hooks.events.create
    // Create a new entity each time, because after a deadlock the hooks start again with the caller's values.
    const entity = patched(this.#model, this.#model.create(), write.values)
    const values = { ...write.values, ...(await this.hooks.before(before, entity, inside)) }
    if (this.hooks.listensTo(before)) checkRequired(this.#model, values)
    const stored = await this.next.insert(call, keyed(this.#model, values, write))
    await this.hooks.after(after, stored, inside)
    return stored
  }

  update(call: C, write: RowWrite): Promise<E | undefined> {
    const { inside } = call
    if (inside === undefined) return this.next.update(call, write)
    return this.#around(this.hooks.events.update, call, inside, write, (hooked) =>
      this.next.update(call, hooked),
    )
  }

  async delete(call: C, write: RowWrite): Promise<boolean> {
    const { inside } = call
    if (inside === undefined) return this.next.delete(call, write)
    const isSoft = this.#model.deleteTime !== undefined
    const remove = async (hooked: RowWrite, entity: E) => {
      const { values } = isSoft ? hooked : write
      return (await this.next.delete(call, { ...hooked, values })) ? entity : undefined
    }
    return (await this.#around(this.hooks.events.delete, call, inside, write, remove)) !== undefined
  }

  undelete(call: C, write: RowWrite): Promise<E | undefined> {
    const { inside } = call
    if (inside === undefined) return this.next.undelete(call, write)
    return this.#around(this.hooks.events.undelete, call, inside, write, (hooked) =>
      this.next.undelete(call, hooked),
    )
  }

  batchGet(call: C, keys: readonly string[], reach: Reach, how?: GetOptions): Promise<E[]> {
    return this.next.batchGet(call, keys, reach, how)
  }

  /** Resolves to undefined if no row matches. */
  async #around(
    { before, after }: WriteEvents,
    call: C,
    inside: RequestContext,
    write: RowWrite,
    send: (hooked: RowWrite, entity: E) => Promise<E | undefined>,
  ): Promise<E | undefined> {
    // The etag is only compared when the row is locked, because a hook may write the row afterwards.
    const row = { ...write.row, precondition: undefined }
    const how: GetOptions = { showDeleted: before === 'BeforeRecover', lock: FOR_WRITE }
    const entity = await this.next.get(call, row, how)
    if (entity === undefined || !this.#isMeant(entity, how, write.row)) return undefined
    const stored = this.hooks.passesDetails
      ? patched(this.#model, this.#model.create(), entity as Values)
      : undefined
    const reported = (values: Readonly<Values>) =>
      stored === undefined ? {} : { stored, changed: Object.keys(values) }
    const changed = patched(this.#model, entity, write.values)
    const changes = await this.hooks.before(before, changed, inside, reported(write.values))
    const values = { ...write.values, ...changes }
    const written = await send({ ...write, row, values }, entity)
    if (written !== undefined) await this.hooks.after(after, written, inside, reported(values))
    return written
  }

  #isMeant(entity: E, { showDeleted }: GetOptions, { precondition }: Target): boolean {
    const { deleteTime } = this.#model
    const isDeleted = deleteTime !== undefined && (entity as Values)[deleteTime.property] !== undefined
    return (showDeleted !== true || isDeleted) && precondition?.matches(entity) !== false
  }

  get #model(): ResourceModel<E> {
    return this.hooks.model
  }
}

/** Returns a new row with the key that the caller or a hook has set, or with a generated key. */
function keyed(model: ResourceModel, values: Readonly<Values>, write: RowWrite): RowWrite {
  const { key } = model
  const { newKey } = write
  if (key.isIdentity === true || newKey === undefined) return { ...write, values }
  const given = values[key.property] ?? ''
  const all = given === '' ? { ...values, [key.property]: newKey() } : values
  // The key that a hook has set may already be used.
  return { ...write, row: targetOf(model, all), values: all, isKeyMade: given === '' }
}
