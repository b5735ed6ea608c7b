import { AshlarError } from '../../errors.js'
import { eventsBehind } from '../log/event-log.js'
import { consumerIn, CONSUMER_CURSOR, STREAM_CURSOR } from '../log/cursor-names.js'
import type { DeadLetter } from '../store/sql-dead-letters.js'
import { type OutboxOwner, type OutboxStore, outboxStoreOf } from '../store/outbox-store.js'

/** The time in milliseconds for which no process can become the leader of a deleted name. */
const FORGETTING_MS = 15_000
const CONSUMERS = [CONSUMER_CURSOR, STREAM_CURSOR] as const

/** The state of an outbox's events. */
export interface OutboxStatus {
  /**
   * The number of committed events that have no log position yet. A relay or consumer that follows the outbox
   * assigns it.
   */
  readonly unsequenced: number
  /** The log position of the last event. */
  readonly last: number
  /**
   * The number of events in the outbox, including events without a log position. A new relay or consumer has
   * to handle all of them.
   */
  readonly kept: number
  readonly cursors: readonly CursorStatus[]
}

/** The progress of a relay or consumer. */
export interface CursorStatus {
  /**
   * The worker's name, such as `relay:nats`. `consumer:mail` follows the outbox, `stream:mail` a NATS stream.
   */
  readonly name: string
  /** The position up to which all events are done. */
  readonly position: number
  /**
   * The number of the outbox's events that are still to be handled, including events without a log position.
   * Undefined for a cursor in a stream.
   */
  readonly lag: number | undefined
  readonly deadLetters: number
  /** True if a process works under this name. */
  readonly isRunning: boolean
  /**
   * The time when a process was last active under this name. For a process that died, it may be later by up
   * to the length of its lease. Undefined if there never was a process.
   */
  readonly lastSeen: Date | undefined
}

/** Selects the dead letters to list. */
export interface DeadLetterOptions {
  /** Lists only the dead letters of this relay or consumer, such as `relay:nats`. */
  readonly cursor?: string
  /** The maximum number of dead letters, oldest first. Default: 100. */
  readonly limit?: number
}

/**
 * Inspects the outbox of a database and the dead letters of its relays and consumers.
 *
 * @example
 * ```ts
 * import { Outbox } from 'ashlar/events'
 * import type { DataSource } from 'typeorm'
 *
 * export const retry = (dataSource: DataSource) => new Outbox(dataSource).replay('relay:nats')
 * ```
 */
export class Outbox {
  readonly #store: OutboxStore

  /** @param owner - a DataSource, or a `MemoryDatabase` in tests. */
  constructor(owner: OutboxOwner) {
    this.#store = outboxStoreOf(owner)
  }

  /** Returns the number of events and the progress of each worker. */
  async status(): Promise<OutboxStatus> {
    const { cursors: known, letters: given, log } = this.#store
    const [cursors, letters] = [await known.all(), await given.counts()]
    const [unsequenced, ends] = [await log.unsequenced(), await log.ends()]
    return {
      unsequenced,
      last: ends.last,
      kept: eventsBehind(ends, 0) + unsequenced,
      cursors: cursors.map(({ name, position, leaseMs }) => ({
        name,
        position,
        lag: name.startsWith(STREAM_CURSOR) ? undefined : eventsBehind(ends, position) + unsequenced,
        deadLetters: letters.get(name) ?? 0,
        isRunning: leaseMs !== undefined && leaseMs > 0,
        lastSeen: leaseMs === undefined ? undefined : new Date(Date.now() + Math.min(0, leaseMs)),
      })),
    }
  }

  /** Returns the dead letters, oldest first. */
  deadLetters({ cursor, limit = 100 }: DeadLetterOptions = {}): Promise<DeadLetter[]> {
    return this.#store.letters.list(limit, cursor)
  }

  /**
   * Makes the worker of a cursor retry its dead letters, or only the one with `id`, within two seconds. An
   * event that then succeeds is delivered after later events of its resource.
   *
   * @returns the number of dead letters to be retried.
   */
  replay(cursor: string, id?: number): Promise<number> {
    return this.#store.letters.replay(cursor, id)
  }

  /**
   * Deletes the cursor, the dead letters and the markers of a relay or consumer that is no longer used. Until
   * then the outbox retains every event after the cursor. If the worker is started again, it begins with the
   * oldest stored event.
   *
   * @returns false if no cursor has that name.
   * @throws AshlarError FAILED_PRECONDITION while a process is active under that name.
   */
  async forget(cursor: string): Promise<boolean> {
    const others = new Set((await this.#store.cursors.all()).map(({ name }) => name))
    if (!others.delete(cursor)) return false
    // Prevents a process from starting under this name during the deletion.
    const lease = this.#store.lease(cursor, FORGETTING_MS)
    if (!(await lease.acquire()))
      throw new AshlarError('FAILED_PRECONDITION', `${cursor} is running: stop it first`)
    await this.#store.letters.removeAll(cursor)
    const consumer = consumerIn(cursor)
    // A consumer of this name may follow a stream now.
    if (consumer !== undefined && !CONSUMERS.some((kind) => others.has(kind + consumer)))
      await this.#store.markers(consumer, 0).removeAll()
    await this.#store.cursors.remove(cursor)
    await lease.remove()
    return true
  }
}
