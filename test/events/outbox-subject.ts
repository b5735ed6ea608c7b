import { Column, type DataSource, Entity, PrimaryColumn } from 'typeorm'
import { Emits, Resource, TenantScoped } from '../../decorators/index.js'
import type { Database } from '../../lib/persistence/engines/executor/executor.js'
import { emit } from '../../lib/persistence/emit.js'
import { cloudEvent } from '../../lib/persistence/outbox/events/cloud-event.js'
import { OutboxWriter } from '../../lib/persistence/outbox/sql/outbox-writer.js'
import { WakeUp } from '../../lib/persistence/outbox/sql/wake-up.js'
import { repositoryOf } from '../../lib/persistence/repository-of.js'
import { createTables } from '../../lib/persistence/schema/create-tables.js'
import { transaction } from '../../lib/persistence/sql/transaction.js'
import { collated } from '../conformance/repository/open-subject.js'
import { asTenant } from '../conformance/repository/subject.js'
import type { Backend } from '../support/databases/backends.js'
import { applyBaseline } from '../support/databases/baseline.js'
import { run } from '../support/databases/statement.js'

/** Each write of its number is an event. */
@Resource()
@Entity('counters')
@TenantScoped()
@Emits()
export class Counter {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ type: 'int' }) number!: number
  accountId!: string
}

/** A database with an outbox. */
export interface OutboxSubject {
  readonly dataSource: DataSource
  readonly database: Database
  readonly counters: InstanceType<ReturnType<typeof repositoryOf<Counter>>>
  /** Emits an event of a key, in a transaction of its own. */
  tell(key: string, options?: { readonly tenant?: string; readonly data?: unknown }): Promise<void>
  /** Commits an event that nobody is told of, as a process does that dies after its commit. */
  tellUnheard(key: string, data?: unknown): Promise<void>
  close(): Promise<void>
}

export async function openOutbox(backend: Backend): Promise<OutboxSubject> {
  const { dataSource, database, close } = await backend.open([Counter])
  if (dataSource === undefined || database === undefined) throw new TypeError('there is no database')
  await applyBaseline(dataSource)
  await createTables(collated(dataSource, backend), [Counter], database.dialect.name)
  return {
    dataSource,
    database,
    counters: new (repositoryOf(Counter))(dataSource),
    tell: (key, { tenant = 'acme', data } = {}) =>
      asTenant(tenant, () =>
        transaction(dataSource, () => emit({ resource: 'thing', verb: 'told', key, data, tenant })),
      ),
    tellUnheard: (key, data = {}) => {
      const facts = { source: '/thing', resource: 'thing', verb: 'told', key, tenant: 'acme', data }
      return OutboxWriter.of(database).append(database, [cloudEvent(facts, { requestId: '' })])
    },
    close,
  }
}

/**
 * Nobody hears of its commits, as of those of another process where there is no LISTEN: its outbox is only
 * polled.
 */
export const deafen = ({ database }: OutboxSubject): void => {
  WakeUp.of(database).listen = () => () => {}
}

/** An event that its transaction has not committed yet. */
export interface HeldEvent {
  commit(): Promise<void>
  rollBack(): Promise<void>
}

/** Emits an event, and leaves its transaction open. */
export async function held({ dataSource }: OutboxSubject, key: string, tenant = 'acme'): Promise<HeldEvent> {
  const [written, ended] = [deferred(), deferred()]
  const whole = asTenant(tenant, () =>
    transaction(dataSource, async () => {
      await emit({ resource: 'thing', verb: 'told', key })
      written.resolve()
      await ended.promise
    }),
  )
  await Promise.race([written.promise, whole])
  return {
    commit: () => {
      ended.resolve()
      return whole
    },
    rollBack: async () => {
      const reason = new Error('rolled back')
      ended.reject(reason)
      await whole.catch((error: unknown) => {
        if (error !== reason) throw error
      })
    },
  }
}

function deferred() {
  let [resolve, reject]: [() => void, (error: Error) => void] = [() => {}, () => {}]
  const promise = new Promise<void>((one, other) => ([resolve, reject] = [one, other]))
  return { promise, resolve, reject }
}

/** An event in the log. */
export interface Logged {
  readonly key: string
  readonly position: number
  readonly log: number
  readonly seq: number
  readonly account: string
}

/** In the order of the log. */
export async function logged({ database }: OutboxSubject): Promise<Logged[]> {
  const { rows } = await run(
    database,
    'SELECT aggregate_id, position, log_position, event_seq, account_id FROM outbox WHERE log_position IS NOT NULL ORDER BY log_position',
  )
  return rows.map(([key, position, log, seq, account]) => ({
    key: String(key),
    position: Number(position),
    log: Number(log),
    seq: Number(seq),
    account: String(account),
  }))
}
