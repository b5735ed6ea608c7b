import type { DataSource } from 'typeorm'
import type { FailureReport, RequestContext } from '../../context.js'
import { current, type Database, executorOf, transaction } from '../../persistence/sql/transaction.js'
import { type KnownResource, knownResources } from '../../persistence/outbox/events/subject-problems.js'
import type { TransactionContext } from '../../persistence/sql/transaction-context.js'
import { listenFor, type OutboxListener } from '../log/listen.js'
import { OutboxLog } from '../log/outbox-log.js'
import { Cursors } from './cursors.js'
import { DeadLetters } from './sql-dead-letters.js'
import { Lease } from './lease.js'
import { Markers } from './markers.js'
import type { MarkerStore, OutboxStore } from './outbox-store.js'

/** Stores the state of workers in the tables of a database. */
export class SqlStore implements OutboxStore {
  readonly #database: Database
  readonly log: OutboxLog
  readonly cursors: Cursors
  readonly letters: DeadLetters

  constructor(private readonly dataSource: DataSource) {
    const database = executorOf(dataSource)
    this.#database = database
    this.log = new OutboxLog(database)
    this.cursors = new Cursors(database)
    this.letters = new DeadLetters(database)
  }

  resources(): readonly KnownResource[] {
    return knownResources(this.dataSource)
  }

  lease(name: string, ms: number): Lease {
    return new Lease(this.#database, name, ms)
  }

  markers(consumer: string, keptMs: number): MarkerStore {
    const markers = new Markers(this.#database, consumer, keptMs)
    return {
      begin: () => markers.begin(),
      mark: (inside, tenant, eventId) => markers.mark(current(this.#database, inside), tenant, eventId),
      prune: () => markers.prune(),
      removeAll: () => markers.removeAll(),
    }
  }

  transaction<T>(context: RequestContext, fn: (inside: TransactionContext) => Promise<T>): Promise<T> {
    return transaction(this.#database, fn, { context })
  }

  listener(dsn: string | undefined, onFailure: FailureReport | undefined): OutboxListener {
    return listenFor(this.#database, dsn, onFailure)
  }
}
