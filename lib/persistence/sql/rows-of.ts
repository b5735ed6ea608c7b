import type { Field } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { MemberSource } from '../deletion/sql/sql-family.js'
import type { Database } from '../engines/executor/executor.js'
import { Hooks } from '../hooks/call-hooks.js'
import { HookedRows } from '../hooks/hooked-rows.js'
import type { Coalesce } from '../coalescing/coalesce.js'
import { CoalescedStatements } from '../coalescing/coalesced-statements.js'
import { TableRules } from '../coalescing/table-rules.js'
import { ChangeEvents } from '../outbox/events/change-events.js'
import { EmittingRows } from '../outbox/sql/emitting-rows.js'
import { OutboxWriter } from '../outbox/sql/outbox-writer.js'
import { References } from '../references/checked-references.js'
import { ReferringRows } from '../references/referring-rows.js'
import { CredentialFinds, CredentialRows, CredentialTenants } from '../rows/credential-tenants.js'
import type { Finds, Rows } from '../rows/rows.js'
import { tableNameOf, tableNames } from '../schema/table-name-of.js'
import { EntitySubscribers } from '../typeorm/subscribers.js'
import { CoalescedFinds } from './coalesced-finds.js'
import { CoalescedRows, type CoalescingParts } from './coalesced-rows.js'
import { writtenEntityOf } from './row-codec.js'
import { RowStore } from './row-store.js'
import { GuardedRows, SuppressingTriggers } from './trigger-guard.js'

/** The rows of one resource in a database. */
export interface SqlRows<E extends object> {
  /** The outermost layer, which calls use. */
  readonly rows: Rows<E>
  /** The innermost layer, which runs statements. */
  readonly store: RowStore<E>
  readonly finds: Finds<E>
  readonly references: References | undefined
  readonly tenants: CredentialTenants | undefined
  readonly triggers: SuppressingTriggers
  readonly events: EmittingRows<E> | undefined
  readonly hooks: Hooks<E>
}

/** Returns the layers that a resource needs. Each wraps the previous one, and calls use the last one. */
export function rowsOf<E extends object>(
  database: Database,
  model: ResourceModel<E>,
  merge: Coalesce,
): SqlRows<E> {
  const { dialect, dataSource } = database
  const table = tableNameOf(model, dialect, dataSource)
  const outbox = OutboxWriter.of(database)
  const store = new RowStore(model, dialect, table, tableNames(dialect, dataSource), outbox)
  const references = referencesOf(database, model)
  const hooks = new Hooks(model, new EntitySubscribers(dataSource, model))
  const reported = ChangeEvents.of(model)
  const {
    values: { coalescing },
  } = dialect
  const rules = coalescing && new TableRules(database, model, table, merge === 'off' ? 'tenant' : merge)
  let rows: Rows<E> = store
  let finds: Finds<E> = store
  if (merge !== 'off' && coalescing !== undefined && rules !== undefined && isShown(model)) {
    const typeOf = (field: Field) => rules.typeOf(field)
    const statements = new CoalescedStatements(model, dialect, coalescing, table, typeOf)
    const parts: CoalescingParts = { database, coalescing, rules, statements, outbox }
    rows = new CoalescedRows(store, parts)
    finds = new CoalescedFinds(store, parts)
  }
  if (references !== undefined) rows = new ReferringRows(rows, references)
  const tenants = tenantsOf(database, model)
  if (tenants !== undefined) {
    rows = new CredentialRows(rows, model, database, tenants)
    finds = new CredentialFinds(finds, model, tenants)
  }
  const triggers = new SuppressingTriggers(database, table)
  if (triggers.known !== false) rows = new GuardedRows(rows, model, dialect, triggers)
  let events: EmittingRows<E> | undefined
  if (reported !== undefined) {
    const isKept = () => rules?.keeps(model.entityFields) === true
    const written = { isKept, entityOf: writtenEntityOf(model) }
    rows = events = new EmittingRows(rows, model, reported, outbox, written)
  }
  if (!hooks.isSilent) rows = new HookedRows(rows, hooks)
  return { rows, store, finds, references, tenants, triggers, events, hooks }
}

/**
 * Returns the table of credential tenants, or undefined for a resource without credentials or without a
 * tenant.
 */
const tenantsOf = (database: Database, { credentials, tenant }: ResourceModel) =>
  credentials.length === 0 || tenant === undefined || !database.dialect.can.distribution
    ? undefined
    : new CredentialTenants(database)

/** Returns true if the entity has the fields that identify its row. */
const isShown = ({ entityFields, key, tenant }: ResourceModel): boolean =>
  [key, tenant].every((field) => field === undefined || entityFields.includes(field))

/**
 * Returns a function that creates the rows of any resource of a database, for rows that are deleted together.
 */
export const familyRowsOf =
  (database: Database): MemberSource['rowsOf'] =>
  ({ model }) => {
    const { rows, events, hooks } = rowsOf<object>(database, model, 'off')
    return { rows, events, surround: (operation) => hooks.surround(operation) }
  }

/** Returns the references of a resource, or undefined if it refers to no other. */
const referencesOf = (database: Database, model: ResourceModel): References | undefined =>
  References.of(database, model, (target) => {
    const { dialect, dataSource } = database
    const rows = new RowStore(target, dialect, tableNameOf(target, dialect, dataSource))
    return (...operands) => rows.get(...operands)
  })
