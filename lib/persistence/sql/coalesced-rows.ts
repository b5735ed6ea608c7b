import { BoundedCache } from '../../bounded-cache.js'
import type { Field } from '../../resource/fields/field.js'
import { partIn } from '../../resource/keys/key-part.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { dependsOnStored } from '../../resource/values/kept-unread.js'
import type { CoalescingSql } from '../dialects/values/coalescing-sql.js'
import type { Database, Statement } from '../engines/executor/executor.js'
import { CoalescedReads, CoalescedWrites, type Requested } from '../coalescing/coalesced-calls.js'
import type { CoalescedStatements } from '../coalescing/coalesced-statements.js'
import { statementOfSeveral } from '../coalescing/statement-of-several.js'
import type { TableRules } from '../coalescing/table-rules.js'
import { outboxValues, type OutboxWriter } from '../outbox/sql/outbox-writer.js'
import type { SqlCall } from '../rows/row-call.js'
import type { Reach } from '../contract/scope.js'
import type { Target } from '../rows/row-target.js'
import type { Batches, GetOptions, Rows, RowWrite } from '../rows/rows.js'
import type { RowStore } from './row-store.js'

/** The objects that coalesced calls use. */
export interface CoalescingParts {
  readonly database: Database
  readonly coalescing: CoalescingSql
  readonly rules: TableRules
  readonly statements: CoalescedStatements
  readonly outbox: OutboxWriter
}

/** The maximum number of column sets with their own queue. Callers choose the sets by their masks. */
const MAX_MASKS = 100

/** A row to write. */
interface Written extends Requested {
  readonly write: RowWrite
}

/**
 * Coalesces reads and writes of single rows. It depends on the RowStore; the rest of coalescing is in
 * `coalescing/`. These calls use the store directly:
 *
 * - calls in a transaction, undeletes, and batches;
 * - writes if the dialect has no `setWrites`, or if the table changes written values;
 * - a get with a lock, a precondition or `showDeleted`;
 * - a get, update or delete with `where`, or without the rows' tenant;
 * - an insert with `parents`, or with a key that the repository has not generated;
 * - an update with `parents`, with an increment, or without columns;
 * - a permanent delete.
 *
 * Other calls share statements unless TableRules excludes it because of the catalog.
 */
export class CoalescedRows<E extends object> implements Rows<E> {
  readonly #gets: CoalescedReads<E>
  /** Queues of inserts, with and without events. */
  readonly #inserts = new Map<boolean, CoalescedWrites<Written, E>>()
  readonly #updates = new BoundedCache<string, CoalescedWrites<Written, E>>(MAX_MASKS, 'coalesced_updates')
  #deletes: CoalescedWrites<Written, Requested> | undefined

  constructor(
    private readonly store: RowStore<E>,
    private readonly parts: CoalescingParts,
  ) {
    this.#gets = this.#coalescedGet()
  }

  get insertsAtOnce(): boolean {
    return this.store.insertsAtOnce
  }

  batches(tenant: string | undefined): Batches<E> | undefined {
    return this.store.batches(tenant)
  }

  get(call: SqlCall, row: Target, how?: GetOptions): Promise<E | undefined> {
    const isLive = how?.lock === undefined && how?.showDeleted !== true
    if (call.on !== this.parts.database || row.precondition !== undefined || !isLive || !this.#isPlain(row))
      return this.store.get(call, row, how)
    return this.#gets.run({ value: row.key, tenant: row.tenant }, call)
  }

  async insert(call: SqlCall, write: RowWrite): Promise<E> {
    const { parents, isKeyMade, event, row } = write
    const isOnce = parents !== undefined || this.store.model.isFilledByTable
    if (isKeyMade !== true || isOnce || !this.#mergesWrites(call)) return this.store.insert(call, write)
    const inserts = this.#insertsWith(event !== undefined)
    return (await inserts.run({ value: row.key, tenant: row.tenant, write }, call)) as E
  }

  update(call: SqlCall, write: RowWrite): Promise<E | undefined> {
    const { row, values, parents } = write
    const isShared = parents === undefined && this.#mergesWrites(call) && this.#isPlain(row)
    const written = isShared ? this.store.fieldsOf(values) : []
    if (written.length === 0 || dependsOnStored(values)) return this.store.update(call, write)
    return this.#updatesOf(written).run({ value: row.key, tenant: row.tenant, write }, call)
  }

  async delete(call: SqlCall, write: RowWrite): Promise<boolean> {
    const { row, values } = write
    if (!this.#mergesWrites(call) || this.store.model.deleteTime === undefined || !this.#isPlain(row))
      return this.store.delete(call, write)
    this.#deletes ??= this.#coalescedDelete(this.store.fieldsOf(values))
    return (await this.#deletes.run({ value: row.key, tenant: row.tenant, write }, call)) !== undefined
  }

  undelete(call: SqlCall, write: RowWrite): Promise<E | undefined> {
    return this.store.undelete(call, write)
  }

  batchGet(call: SqlCall, keys: readonly string[], reach: Reach, how?: GetOptions): Promise<E[]> {
    return this.store.batchGet(call, keys, reach, how)
  }

  #mergesWrites({ on }: SqlCall): boolean {
    const { dialect, model } = this.store
    return on === this.parts.database && dialect.can.setWrites && !model.isChangedByTable
  }

  #isPlain({ where, tenant, precondition }: Target): boolean {
    const { model } = this.store
    const isOfTenant = (tenant === undefined) === (model.tenant === undefined)
    return where === undefined && isOfTenant && (precondition === undefined || model.etag !== undefined)
  }

  #requestedKey({ value, tenant }: Requested): unknown[] {
    const key = this.store.key.bind(value)
    return tenant === undefined ? [key] : [key, this.store.tenant.bind(tenant)]
  }

  get #identity(): readonly Field[] {
    const { key, tenant } = this.store.model
    return tenant === undefined ? [key] : [key, tenant]
  }

  #coalescedGet(): CoalescedReads<E> {
    const { model } = this.store
    const { key, tenant, entityFields, entity } = model
    const { database, rules, statements } = this.parts
    const shape = { by: key, tenant, selected: entityFields, isFirst: false }
    return new CoalescedReads(database, {
      name: `${entity.name}.get`,
      alone: (requested, call) => this.store.get(call, { key: requested.value, tenant: requested.tenant }),
      ...this.#shared(
        () => rules.mayRead(this.#identity),
        () => statements.read(shape),
      ),
      valuesOf: (requested) => this.#requestedKey(requested),
      requestedIn: (entity) => requestedKey(entity, model),
      read: this.store.hydrateBehind,
    })
  }

  #insertsWith(hasEvents: boolean): CoalescedWrites<Written, E> {
    const known = this.#inserts.get(hasEvents)
    if (known !== undefined) return known
    const { model } = this.store
    const { entity, entityFields, fields } = model
    const { database, rules, statements, outbox } = this.parts
    const inserts = new CoalescedWrites<Written, E>(database, {
      name: `${entity.name}.create`,
      compare: model.keys.compare,
      alone: ({ write }, call) => this.store.insert(call, write),
      ...this.#shared(
        () => rules.mayInsert(fields),
        () => statements.insert(fields, entityFields, hasEvents ? outbox.along : undefined),
      ),
      valuesOf: ({ write: { values, event } }) => [
        ...fields.map((field) => this.store.encode(field, values[field.property])),
        ...(event === undefined ? [] : outboxValues(event)),
      ],
      requestedIn: (inserted) => requestedKey(inserted, model),
      read: this.store.hydrateBehind,
    })
    this.#inserts.set(hasEvents, inserts)
    return inserts
  }

  #updatesOf(written: readonly Field[]): CoalescedWrites<Written, E> {
    return this.#updates.getOrSet(written.map(({ column }) => column).join('\0'), () => {
      const { model } = this.store
      const { entity, entityFields } = model
      const { database, rules, statements } = this.parts
      return new CoalescedWrites<Written, E>(database, {
        name: `${entity.name}.update`,
        compare: model.keys.compare,
        alone: ({ write }, call) => this.store.update(call, write),
        ...this.#shared(
          () => rules.mayUpdate(written),
          () => statements.update(written, entityFields),
        ),
        valuesOf: ({ write }) => this.#changeOf(write, written),
        requestedIn: (updated) => requestedKey(updated, model),
        read: this.store.hydrateBehind,
      })
    })
  }

  #coalescedDelete(written: readonly Field[]): CoalescedWrites<Written, Requested> {
    const { key, tenant, model } = this.store
    const { entity, keys } = model
    const { database, rules, statements } = this.parts
    return new CoalescedWrites<Written, Requested>(database, {
      name: `${entity.name}.delete`,
      compare: keys.compare,
      alone: async (requested, call) =>
        (await this.store.delete(call, requested.write)) ? requested : undefined,
      ...this.#shared(
        () => rules.maySoftDelete(written),
        () => statements.update(written, this.#identity),
      ),
      valuesOf: ({ write }) => this.#changeOf(write, written),
      requestedIn: (requested) => requested,
      read: ([, value, owner]) => ({
        value: key.read(value),
        tenant: model.tenant === undefined ? undefined : tenant.read(owner),
      }),
    })
  }

  #shared(may: () => boolean, make: () => Statement) {
    return statementOfSeveral(this.parts.coalescing, this.parts.rules, may, make)
  }

  #changeOf({ row, values }: RowWrite, written: readonly Field[]): readonly unknown[] {
    const { key, tenant, precondition } = row
    const bound = this.#requestedKey({ value: key, tenant })
    if (this.store.model.etag !== undefined) bound.push(precondition?.etag ?? null)
    return [...bound, ...written.map((field) => this.store.encode(field, values[field.property]))]
  }
}

const requestedKey = (entity: object, { keys, tenant }: ResourceModel): Requested => ({
  value: keys.textOf(entity),
  tenant: tenant && partIn(tenant, entity),
})
