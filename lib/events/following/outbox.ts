import type { DataSource } from 'typeorm'
import { executorOf } from '../../persistence/sql/transaction.js'
import { OutboxLog, STREAM_CURSOR } from '../log/outbox-log.js'
import { Cursors } from './cursors.js'
import { type DeadLetter, DeadLetters } from './dead-letters.js'

/** What became of the events of an outbox. */
export interface OutboxStatus {
  /** Events that are committed and have no log position yet. */
  readonly unsequenced: number
  /** The log position of the last event. */
  readonly last: number
  readonly cursors: readonly CursorStatus[]
}

/** How far a relay or a consumer is. */
export interface CursorStatus {
  /** `relay:nats`; `consumer:mail` follows the outbox, `stream:mail` a stream of NATS. */
  readonly name: string
  /** The position of the last event that is done. */
  readonly position: number
  /** Events of the outbox that are still to be done; undefined for a cursor in a stream. */
  readonly lag: number | undefined
  readonly deadLetters: number
}

/** Which dead letters are listed. */
export interface DeadLetterOptions {
  /** Of one relay or consumer: `relay:nats`. */
  readonly cursor?: string
  /** How many, the oldest first. Default 100. */
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
  readonly #log: OutboxLog
  readonly #cursors: Cursors
  readonly #letters: DeadLetters

  constructor(dataSource: DataSource) {
    const database = executorOf(dataSource)
    this.#log = new OutboxLog(database)
    this.#cursors = new Cursors(database)
    this.#letters = new DeadLetters(database)
  }

  /** How many events there are, and how far each worker is. */
  async status(): Promise<OutboxStatus> {
    const [cursors, letters] = [await this.#cursors.all(), await this.#letters.counts()]
    const [unsequenced, last] = [await this.#log.unsequenced(), await this.#log.last()]
    return {
      unsequenced,
      last,
      cursors: cursors.map(({ name, position }) => ({
        name,
        position,
        lag: name.startsWith(STREAM_CURSOR) ? undefined : Math.max(0, last - position),
        deadLetters: letters.get(name) ?? 0,
      })),
    }
  }

  /** The events that were given up, oldest first. */
  deadLetters({ cursor, limit = 100 }: DeadLetterOptions = {}): Promise<DeadLetter[]> {
    return this.#letters.list(limit, cursor)
  }

  /**
   * Has the worker of a cursor try its dead letters again, or one of them, within a second or two. An event that succeeds comes after
   * events of its resource that were done meanwhile.
   * @returns how many there are.
   */
  replay(cursor: string, id?: number): Promise<number> {
    return this.#letters.replay(cursor, id)
  }
}
