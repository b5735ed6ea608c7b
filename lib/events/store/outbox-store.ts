import type { DataSource } from 'typeorm'
import type { FailureReport, RequestContext } from '../../context.js'
import { MemoryDatabase } from '../../persistence/memory/memory-database.js'
import type { KnownResource } from '../../persistence/outbox/events/subject-problems.js'
import type { TransactionContext } from '../../persistence/sql/transaction-context.js'
import type { OutboxListener } from '../log/listen.js'
import type { OutboxLog } from '../log/outbox-log.js'
import type { Cursors } from './cursors.js'
import type { DeadLetters } from './sql-dead-letters.js'
import type { Lease } from './lease.js'
import { MemoryStore } from './memory-store.js'
import { SqlStore } from './sql-store.js'

type Public<T> = Pick<T, keyof T>

export type StoredLog = Public<OutboxLog>
export type CursorStore = Public<Cursors>
export type LetterStore = Public<DeadLetters>
export type WorkerLease = Public<Lease>

/** The record of events that a consumer has handled. */
export interface MarkerStore {
  /** Called when a consumer becomes the leader. */
  begin(): Promise<void>
  /**
   * Records an event as handled, in the transaction of its effects.
   *
   * @returns false if the event was already handled.
   */
  mark(inside: RequestContext, tenant: string, eventId: string): Promise<boolean>
  /** Removes old markers, at most once per hour. */
  prune(): Promise<void>
  removeAll(): Promise<void>
}

/** An outbox with the state of its relays and consumers. */
export interface OutboxStore {
  readonly log: StoredLog
  readonly cursors: CursorStore
  readonly letters: LetterStore
  /** Returns the resources of this process. */
  resources(): readonly KnownResource[]
  lease(name: string, ms: number): WorkerLease
  markers(consumer: string, keptMs: number): MarkerStore
  /** Runs a transaction that repositories of the database join. */
  transaction<T>(context: RequestContext, fn: (inside: TransactionContext) => Promise<T>): Promise<T>
  /**
   * Returns a listener for new events of other processes.
   *
   * @throws TypeError if a `dsn` is given and the engine has no LISTEN.
   */
  listener(dsn: string | undefined, onFailure: FailureReport | undefined): OutboxListener
}

/** The owner of an outbox: a database, or a memory database in tests and development. */
export type OutboxOwner = DataSource | MemoryDatabase

export const outboxStoreOf = (owner: OutboxOwner): OutboxStore =>
  owner instanceof MemoryDatabase ? MemoryStore.of(owner) : new SqlStore(owner)
