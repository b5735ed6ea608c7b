import { AshlarError } from '../../errors.js'
import { eventsBehind } from '../log/event-log.js'
import { consumerIn, CONSUMER_CURSOR, STREAM_CURSOR } from '../log/cursor-names.js'
import type { DeadLetter } from '../store/sql-dead-letters.js'
import { type OutboxOwner, type OutboxStore, outboxStoreOf } from '../store/outbox-store.js'

/** The time for which no process can become the leader of a deleted name. */
const FORGETTING_MS = 15_000
const CONSUMERS = [CONSUMER_CURSOR, STREAM_CURSOR] as const

/** The state of an outbox's events. */
export interface OutboxStatus {
  /**
   * Events that are committed and have no log position yet. A relay or a consumer that follows the outbox
   * gives it to them.
   */
  readonly unsequenced: number
  /** The log position of the last event. */
  readonly last: number
  /**
   * Events that the outbox still has, also those without a log position. A new relay or consumer has all of
   * them to do.
   */
  readonly kept: number
  readonly cursors: readonly CursorStatus[]
}

/** The progress of a relay or a consumer. */
export interface CursorStatus {
  /** `relay:nats`; `consumer:mail` follows the outbox, `stream:mail` a stream of NATS. */
  readonly name: string
  /** The position of the last event that is done. */
  readonly position: number
  /**
   * Events of the outbox that are still to be done, also those without a log position; undefined for a cursor
   * in a stream.
   */
  readonly lag: number | undefined
  readonly deadLetters: number
  /** True if a process works under this name. */
  readonly isRunning: boolean
  /**
   * When the last one did. Of one that died, up to the time of its lease too late. Undefined where none ever
   * did.
   */
  readonly lastSeen: Date | undefined
}

/** Which dead letters are listed. */
export interface DeadLetterOptions {
  /** Of one relay or consumer: `relay:nats`. */
  readonly cursor?: string
  /** The maximum number of dead letters, oldest first. Default 100. */
  readonly limit?: number
}

/**
 * Looks at the outbox of a database, and at the dead letters of relays and consumers.
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

  /** The number of events, and how far each worker is. */
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

  /** The events that were given up, oldest first. */
  deadLetters({ cursor, limit = 100 }: DeadLetterOptions = {}): Promise<DeadLetter[]> {
    return this.#store.letters.list(limit, cursor)
  }

  /**
   * Has the worker of a cursor try its dead letters again, or one of them, within a second or two. An event
   * that succeeds comes after events of its resource that were done meanwhile.
   * @returns how many there are.
   */
  replay(cursor: string, id?: number): Promise<number> {
    return this.#store.letters.replay(cursor, id)
  }

  /**
   * Deletes the cursor, the dead letters and the markers of a relay or a consumer that is no longer run.
   * Until then the outbox keeps every event after its cursor. If it is started again, it begins with the
   * oldest stored event.
   * @returns false if no cursor has that name.
   * @throws AshlarError FAILED_PRECONDITION while a process is active under that name.
   */
  async forget(cursor: string): Promise<boolean> {
    const others = new Set((await this.#store.cursors.all()).map(({ name }) => name))
    if (!others.delete(cursor)) return false
    // Prevents a process from starting under the name meanwhile.
    const lease = this.#store.lease(cursor, FORGETTING_MS)
    if (!(await lease.acquire()))
      throw new AshlarError('FAILED_PRECONDITION', `${cursor} is running: end it first`)
    await this.#store.letters.removeAll(cursor)
    const consumer = consumerIn(cursor)
    // The same consumer may follow a stream by now.
    if (consumer !== undefined && !CONSUMERS.some((kind) => others.has(kind + consumer)))
      await this.#store.markers(consumer, 0).removeAll()
    await this.#store.cursors.remove(cursor)
    await lease.remove()
    return true
  }
}
