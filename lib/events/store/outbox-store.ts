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

/** The events that a consumer has done. */
export interface MarkerStore {
  /** Called by a consumer that begins to lead. */
  begin(): Promise<void>
  /** In the transaction of the effects. @returns false where the event is done already. */
  mark(inside: RequestContext, tenant: string, eventId: string): Promise<boolean>
  /** Removes old ones, once in an hour. */
  prune(): Promise<void>
  removeAll(): Promise<void>
}

/** An outbox, and what relays and consumers note of their work on it. */
export interface OutboxStore {
  readonly log: StoredLog
  readonly cursors: CursorStore
  readonly letters: LetterStore
  /** The resources that this process knows of it. */
  resources(): readonly KnownResource[]
  lease(name: string, ms: number): WorkerLease
  markers(consumer: string, keptMs: number): MarkerStore
  /** Repositories of the database join it. */
  transaction<T>(context: RequestContext, fn: (inside: TransactionContext) => Promise<T>): Promise<T>
  /** @throws TypeError for a `dsn` if the engine has no LISTEN. */
  listener(dsn: string | undefined, onFailure: FailureReport | undefined): OutboxListener
}

/** Whose outbox it is: a database, or the memory of this process in tests and in development. */
export type OutboxOwner = DataSource | MemoryDatabase

export const outboxStoreOf = (owner: OutboxOwner): OutboxStore =>
  owner instanceof MemoryDatabase ? MemoryStore.of(owner) : new SqlStore(owner)
