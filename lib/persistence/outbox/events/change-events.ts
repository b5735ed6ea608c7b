import type { ChangeKind } from '../../../../decorators/emits.js'
import type { EventsModel } from '../../../resource/events-model.js'
import { partIn } from '../../../resource/keys/key-part.js'
import type { ResourceModel } from '../../../resource/resource-model.js'
import { isSame } from '../../../resource/values/same-value.js'
import { cloudEvent, type EventCall } from './cloud-event.js'
import type { OutboxRow } from './outbox-row.js'

/** A change of one resource. */
export interface Change<E extends object> {
  readonly kind: ChangeKind
  /** Undefined where it was created. */
  readonly before?: E | undefined
  /** Undefined where it is gone. */
  readonly after?: E | undefined
  /** The secrets and credentials that were written, by proto name. */
  readonly hidden?: readonly string[]
}

type Values = Readonly<Record<string, unknown>>

/** Turns changes of one resource into events. */
export class ChangeEvents<E extends object> {
  constructor(
    private readonly model: ResourceModel<E>,
    private readonly events: EventsModel,
  ) {}

  /** Of a resource with `@Emits()`; undefined for others. */
  static of<E extends object>(model: ResourceModel<E>): ChangeEvents<E> | undefined {
    return model.events && new ChangeEvents(model, model.events)
  }

  includes(kind: ChangeKind): boolean {
    return this.events.on.has(kind)
  }

  /** The events of what has really changed. */
  rows(changes: readonly Change<E>[], call: EventCall): OutboxRow[] {
    const rows: OutboxRow[] = []
    for (const change of changes) {
      if (!this.includes(change.kind)) continue
      const changed = change.kind === 'updated' ? this.#changed(change) : undefined
      if (changed?.length !== 0) rows.push(this.#row(change, changed, call))
    }
    return rows
  }

  /** The secrets and credentials among the columns of a write. */
  hiddenIn(patch: Values): readonly string[] {
    const { secrets, credentials } = this.model
    return [
      ...secrets.filter(({ hash }) => Object.hasOwn(patch, hash.property)),
      ...credentials.filter(({ hash }) => Object.hasOwn(patch, hash.property)),
    ].map(({ proto }) => proto)
  }

  #row(
    { kind, before, after }: Change<E>,
    changed: readonly string[] | undefined,
    call: EventCall,
  ): OutboxRow {
    const { model, events } = this
    const about = (after ?? before) as E
    const values = about as Values
    const data = {
      ...(after === undefined ? {} : { resource: events.toJson(after) }),
      ...(events.include === 'before' && before !== undefined ? { before: events.toJson(before) } : {}),
      ...(events.include === 'changed' && changed !== undefined ? { changed } : {}),
    }
    return cloudEvent(
      {
        source: events.source,
        resource: model.type,
        verb: kind,
        key: model.keys.textOf(about),
        subject: model.name?.format(about),
        tenant: model.tenant === undefined ? '' : partIn(model.tenant, values),
        data,
      },
      call,
    )
  }

  /**
   * The proto names of the fields that an update has changed, except the etag and `update_time`; undefined if
   * that is not known.
   */
  #changed({ before, after, hidden = [] }: Change<E>): readonly string[] | undefined {
    if (before === undefined || after === undefined) return undefined
    const [from, to] = [before as Values, after as Values]
    const differing = this.model.entityFields.filter(
      ({ role, property }) =>
        role !== 'etag' && role !== 'updateTime' && !isSame(from[property], to[property]),
    )
    return [...differing.map(({ proto }) => proto), ...hidden]
  }
}
