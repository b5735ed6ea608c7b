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
  /** The entity before the change. Undefined after a create. */
  readonly before?: E | undefined
  /** The entity after the change. Undefined after a removal. */
  readonly after?: E | undefined
  /** The proto names of written secrets and credentials. */
  readonly hidden?: readonly string[]
}

type Values = Readonly<Record<string, unknown>>

/** Converts changes of one resource to events. */
export class ChangeEvents<E extends object> {
  constructor(
    private readonly model: ResourceModel<E>,
    private readonly events: EventsModel,
  ) {}

  /** Returns undefined if the resource has no `@Emits()`. */
  static of<E extends object>(model: ResourceModel<E>): ChangeEvents<E> | undefined {
    return model.events && new ChangeEvents(model, model.events)
  }

  includes(kind: ChangeKind): boolean {
    return this.events.on.has(kind)
  }

  /** Returns the events of changes. An update that changed nothing has none. */
  rows(changes: readonly Change<E>[], call: EventCall): OutboxRow[] {
    const rows: OutboxRow[] = []
    for (const change of changes) {
      if (!this.includes(change.kind)) continue
      const changed = change.kind === 'updated' ? this.#changed(change) : undefined
      if (changed?.length !== 0) rows.push(this.#row(change, changed, call))
    }
    return rows
  }

  /** Returns the secrets and credentials among written columns. */
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
   * Returns the proto names of changed fields, without the etag and `update_time`, or undefined if they are
   * not known.
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
