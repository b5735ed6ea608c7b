import { randomUUID } from 'node:crypto'
import type { RequestContext } from '../../context.js'
import { OptionError } from '../../errors.js'
import type { MemoryDatabase } from '../../persistence/memory/memory-database.js'
import type { KnownResource } from '../../persistence/outbox/events/subject-problems.js'
import type { TransactionContext } from '../../persistence/sql/transaction-context.js'
import type { OutboxListener } from '../log/listen.js'
import { MemoryLog } from '../log/memory-log.js'
import type { Cursor, KnownCursor } from './cursors.js'
import { MemoryLetters } from './memory-dead-letters.js'
import type { CursorStore, MarkerStore, OutboxStore, WorkerLease } from './outbox-store.js'

/** The current leader, or the time when the last one ended. */
type Leased = { readonly owner: string } | { readonly endedAt: number }

/** The state of workers in memory. Like the events, it is lost when the process ends. */
export class MemoryStore implements OutboxStore {
  readonly log: MemoryLog
  readonly cursors: CursorStore
  readonly letters = new MemoryLetters()
  readonly #cursors = new Map<string, Cursor>()
  readonly #leases = new Map<string, Leased>()
  readonly #marks = new Set<string>()

  private constructor(private readonly database: MemoryDatabase) {
    this.log = new MemoryLog(database.outbox, () => [...this.#cursors.values()])
    this.cursors = {
      open: (name) => Promise.resolve(this.#open(name)),
      save: (cursor, owner) => Promise.resolve(this.#save(cursor, owner)),
      all: () => Promise.resolve([...this.#cursors.values()].map((cursor) => this.#known(cursor))),
      remove: (name) => Promise.resolve(void this.#cursors.delete(name)),
    }
  }

  /** Returns the store of a database, the same object each time. */
  static of(database: MemoryDatabase): MemoryStore {
    const known = stores.get(database)
    if (known !== undefined) return known
    const store = new MemoryStore(database)
    stores.set(database, store)
    return store
  }

  resources(): readonly KnownResource[] {
    return this.database.models
  }

  /** Returns a lease that other processes cannot take over, because it ends with this process. */
  lease(name: string): WorkerLease {
    const owner = randomUUID()
    const leases = this.#leases
    const isHeld = () => ownerOf(leases.get(name)) === owner
    const release = (): Promise<void> => {
      if (isHeld()) leases.set(name, { endedAt: Date.now() })
      return Promise.resolve()
    }
    return {
      owner,
      get isHeld() {
        return isHeld()
      },
      acquire: () => {
        if (ownerOf(leases.get(name)) === undefined) leases.set(name, { owner })
        return Promise.resolve(isHeld())
      },
      keep: () => () => {},
      release,
      remove: () => Promise.resolve(void (isHeld() && leases.delete(name))),
    }
  }

  markers(consumer: string): MarkerStore {
    const [marks, own] = [this.#marks, `${consumer}:`]
    return {
      begin: () => Promise.resolve(),
      mark: (inside, tenant, eventId) =>
        this.database.perform(inside, 'a marker', ({ write }) =>
          write((log) => {
            const mark = own + JSON.stringify([tenant, eventId])
            if (marks.has(mark)) return false
            marks.add(mark)
            log(() => marks.delete(mark))
            return true
          }),
        ),
      // Markers are lost when the process ends.
      prune: () => Promise.resolve(),
      removeAll: () => {
        for (const mark of marks) if (mark.startsWith(own)) marks.delete(mark)
        return Promise.resolve()
      },
    }
  }

  transaction<T>(context: RequestContext, fn: (inside: TransactionContext) => Promise<T>): Promise<T> {
    // `manager` and `sql` of the context throw, because they require a database.
    return this.database.transaction((inside) => fn(inside as TransactionContext), { context })
  }

  listener(dsn: string | undefined): OutboxListener {
    if (dsn !== undefined) throw new OptionError('listenDsn', 'memory has no LISTEN: leave it out')
    return { start: () => {}, close: () => Promise.resolve() }
  }

  #open(name: string): number {
    const known = this.#cursors.get(name)
    if (known !== undefined) return known.position
    this.#cursors.set(name, { name, position: 0, failures: 0 })
    return 0
  }

  #save(cursor: Cursor, owner: string): boolean {
    const isOwn = ownerOf(this.#leases.get(cursor.name)) === owner
    if (isOwn) this.#cursors.set(cursor.name, cursor)
    return isOwn
  }

  #known(cursor: Cursor): KnownCursor {
    const leased = this.#leases.get(cursor.name)
    const leaseMs =
      leased === undefined
        ? undefined
        : 'owner' in leased
          ? Number.POSITIVE_INFINITY
          : leased.endedAt - Date.now()
    return { ...cursor, leaseMs }
  }
}

const ownerOf = (leased: Leased | undefined): string | undefined =>
  leased !== undefined && 'owner' in leased ? leased.owner : undefined

const stores = new WeakMap<MemoryDatabase, MemoryStore>()
