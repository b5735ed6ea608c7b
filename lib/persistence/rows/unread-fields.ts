import { RequestContext } from '../../context.js'
import { ReportLimit } from '../../faults/report-limit.js'
import type { Field } from '../../resource/fields/field.js'
import { kindOf } from '../../resource/kinds/kinds.js'
import { partIn } from '../../resource/keys/key-part.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Oneof } from '../../resource/values/oneofs.js'
import { KeptUnread } from '../../resource/values/kept-unread.js'
import { shownValue } from '../../text/shown-value.js'
import type { Values } from '../contract/new-entity.js'

/** The maximum number of rows for which unreadable fields are recorded. */
const MAX_ROWS = 1000

const known = new WeakMap<ResourceModel, UnreadFields>()

/**
 * Reports values in rows that the fields of a resource cannot represent, because another program or a newer
 * image stored them.
 */
export class UnreadFields {
  readonly #reports = new ReportLimit()
  readonly #rows = new Map<string, Set<Field>>()

  private constructor(private readonly model: ResourceModel) {}

  static of(model: ResourceModel): UnreadFields {
    let fields = known.get(model)
    if (fields === undefined) known.set(model, (fields = new UnreadFields(model)))
    return fields
  }

  /** Reports a field that counts as unset while an entity is read. */
  found(entity: object, field: Field): void {
    const context = RequestContext.current()
    // Wait until the entity has been read completely, because its key may be set later.
    queueMicrotask(() => {
      const id = this.#idOf(entity)
      const fields = this.#rows.get(id) ?? new Set()
      this.#rows.delete(id)
      this.#rows.set(id, fields.add(field))
      const [oldest] = this.#rows.size > MAX_ROWS ? this.#rows.keys() : []
      if (oldest !== undefined) this.#rows.delete(oldest)
      this.#warn(
        context,
        entity,
        field,
        `contains ${unreadOf(field)[0]} that cannot be read, and counts as unset`,
      )
    })
  }

  /** Reports a row that sets several members of a oneof. */
  several(entity: object, { name, members }: Oneof): void {
    const { type, keys } = this.model
    const columns = members.map(({ column }) => column).join(', ')
    const row = `${type} ${shownValue(keys.textOf(entity))} has values in several columns of the oneof ${name} (${columns}), of which the first is used`
    const error = new TypeError('a row sets at most one member of a oneof')
    const context = RequestContext.current()
    this.#reports.tell(row, error, (more) => context.reportFailure(row + more, error, true))
  }

  /**
   * Reports unreadable values that an update has overwritten.
   *
   * @param entity - the entity after the update.
   */
  updated(entity: object, written: Readonly<Values>): void {
    if (this.#rows.size === 0) return
    const id = this.#idOf(entity)
    for (const field of this.#rows.get(id) ?? [])
      if (Object.hasOwn(written, field.property) && !(written[field.property] instanceof KeptUnread)) {
        this.#rows.get(id)?.delete(field)
        const what = `contained ${unreadOf(field)[0]} that could not be read, and an update has overwritten it`
        this.#warn(RequestContext.current(), entity, field, what)
      }
  }

  #warn(context: RequestContext, entity: object, field: Field, what: string): void {
    const { type, keys } = this.model
    // Scalars, lists and free-form JSON are reported once per column.
    const isOfColumn = field.json === undefined || (field.json.shape ?? field.list) !== undefined
    const which = isOfColumn ? '' : ` ${shownValue(keys.textOf(entity))}`
    const row = `the column ${field.column} of ${type}${which} ${what}`
    // The original error would contain a value of the row.
    const error = new TypeError(unreadOf(field)[1])
    this.#reports.tell(row, error, (more) => context.reportFailure(row + more, error, true))
  }

  #idOf(entity: object): string {
    const { tenant, keys } = this.model
    return JSON.stringify([keys.textOf(entity), tenant && partIn(tenant, entity)])
  }
}

const unreadOf = (field: Field): readonly [what: string, why: string] =>
  kindOf(field).unread?.(field) ?? ['a value', 'its field cannot hold it']
