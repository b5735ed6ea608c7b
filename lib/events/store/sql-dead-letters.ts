import { RequestContext } from '../../context.js'
import type { Database, Row, Statement } from '../../persistence/engines/executor/executor.js'
import { bytesOf, keyPart, sqlText } from '../../persistence/engines/sql-text.js'
import { atomically } from '../../persistence/sql/transaction.js'
import { eventIn } from '../log/event-in.js'
import type { LoggedEvent } from '../log/event-log.js'
import { prepareLog } from '../log/log-tables.js'
import { shownValue } from '../../text/shown-value.js'

/** An event whose delivery was given up. */
export interface DeadLetter {
  readonly id: number
  /** The worker's cursor, such as `relay:nats`. */
  readonly cursor: string
  readonly eventId: string
  readonly eventType: string
  /** The reason for giving up. */
  readonly reason: string
  /** The time of giving up. */
  readonly givenUpAt: Date
  /** True if a replay was requested but has not run yet. Dead letters are not retried otherwise. */
  readonly isWaiting: boolean
}

const MAX_CHARACTERS = 2000
const MAX_AT_ONCE = 100

/**
 * Reads and writes the rows of `outbox_dead_letter`. `recorded_at` is NULL while a dead letter waits for its
 * retry.
 */
export class DeadLetters {
  readonly #statements: ReturnType<typeof statementsFor>

  constructor(private readonly database: Database) {
    this.#statements = statementsFor(database)
  }

  /**
   * Records a dead letter, at most one per cursor and event. Events of different tenants may have the same
   * id.
   */
  async record(cursor: string, event: LoggedEvent, reason: unknown): Promise<void> {
    const { insert, ofEvent, remove } = this.#statements
    const { resource, verb, payload, tenant } = event
    const id = keyPart(event.id)
    await atomically(this.database, new RequestContext(), async (on) => {
      const { rows } = await on.run(ofEvent, [cursor, id])
      // Another tenant's event may have the same id.
      for (const [letter, said] of rows)
        if ((eventIn(bytesOf(said))?.tenant ?? tenant) === tenant) await on.run(remove, [letter])
      await on.run(insert, [cursor, id, storable(`${resource}.${verb}`), textOf(reason), payload])
    })
  }

  /**
   * Returns the dead letters.
   *
   * @param limit - the maximum number of dead letters, oldest first.
   */
  async list(limit: number, cursor?: string): Promise<DeadLetter[]> {
    await prepareLog(this.database)
    const { listAll, listOf } = this.#statements
    const { rows } =
      cursor === undefined
        ? await this.database.run(listAll, [limit])
        : await this.database.run(listOf, [cursor, limit])
    return rows.map(deadLetterOf)
  }

  /** Returns the number of dead letters by cursor. */
  async counts(): Promise<ReadonlyMap<string, number>> {
    await prepareLog(this.database)
    const { rows } = await this.database.run(this.#statements.counts, [])
    return new Map(rows.map(([cursor, count]) => [String(cursor), Number(count)]))
  }

  /**
   * Requests a retry of one dead letter, or of all of a cursor. Its worker notices the request soon.
   *
   * @returns the number of dead letters.
   */
  async replay(cursor: string, id?: number): Promise<number> {
    await prepareLog(this.database)
    const { replayAll, replayOne } = this.#statements
    const { affected } =
      id === undefined
        ? await this.database.run(replayAll, [cursor])
        : await this.database.run(replayOne, [cursor, id])
    return affected
  }

  /** Returns the dead letters to retry. The event is undefined if only its failure could be stored. */
  async waiting(cursor: string): Promise<{ readonly id: number; readonly event: LoggedEvent | undefined }[]> {
    const { rows } = await this.database.run(this.#statements.waiting, [cursor])
    return rows.map(([id, payload]) => ({ id: Number(id), event: eventIn(bytesOf(payload)) }))
  }

  async remove(id: number): Promise<void> {
    await this.database.run(this.#statements.remove, [id])
  }

  async removeAll(cursor: string): Promise<void> {
    await this.database.run(this.#statements.removeAll, [cursor])
  }

  /** Records that a retry has failed. */
  async keep(id: number, reason: unknown): Promise<void> {
    await this.database.run(this.#statements.keep, [textOf(reason), id])
  }
}

const statementsFor = (
  database: Database,
): Readonly<
  Record<
    | 'insert'
    | 'ofEvent'
    | 'listAll'
    | 'listOf'
    | 'counts'
    | 'replayAll'
    | 'replayOne'
    | 'waiting'
    | 'remove'
    | 'removeAll'
    | 'keep',
    Statement
  >
> => {
  const { bytesIn, msUntil, now, statement, table } = sqlText(database)
  const letters = table('outbox_dead_letter')
  const list =
    `SELECT id, cursor_name, event_id, event_type, reason, ${msUntil('created_time')} AS age_ms, ` +
    `CASE WHEN recorded_at IS NULL THEN 1 ELSE 0 END AS is_waiting FROM ${letters}`
  return {
    insert: statement(
      `INSERT INTO ${letters} (cursor_name, event_id, event_type, reason, payload, created_time, recorded_at) ` +
        `VALUES (?, ?, ?, ?, ?, ${now}, ${now})`,
    ),
    ofEvent: statement(
      `SELECT id, ${bytesIn('payload')} FROM ${letters} WHERE cursor_name = ? AND event_id = ?`,
    ),
    listAll: statement(`${list} ORDER BY id LIMIT ?`),
    listOf: statement(`${list} WHERE cursor_name = ? ORDER BY id LIMIT ?`),
    counts: statement(`SELECT cursor_name, COUNT(*) AS letters FROM ${letters} GROUP BY cursor_name`),
    replayAll: statement(`UPDATE ${letters} SET recorded_at = NULL WHERE cursor_name = ?`),
    replayOne: statement(`UPDATE ${letters} SET recorded_at = NULL WHERE cursor_name = ? AND id = ?`),
    waiting: statement(
      `SELECT id, ${bytesIn('payload')} FROM ${letters} WHERE cursor_name = ? AND recorded_at IS NULL ORDER BY id LIMIT ${MAX_AT_ONCE}`,
    ),
    remove: statement(`DELETE FROM ${letters} WHERE id = ?`),
    removeAll: statement(`DELETE FROM ${letters} WHERE cursor_name = ?`),
    keep: statement(`UPDATE ${letters} SET reason = ?, recorded_at = ${now} WHERE id = ?`),
  }
}

const deadLetterOf = ([id, cursor, eventId, eventType, reason, ageMs, isWaiting]: Row): DeadLetter => ({
  id: Number(id),
  cursor: String(cursor),
  eventId: String(eventId),
  eventType: String(eventType),
  reason: String(reason),
  givenUpAt: new Date(Date.now() + Number(ageMs)),
  isWaiting: Number(isWaiting) === 1,
})

/** Returns the reason to store, as a string: the name and message of an error, or a printed value. */
export const textOf = (reason: unknown): string =>
  storable(reason instanceof Error ? `${reason.name}: ${reason.message}` : shownValue(reason))

/** Removes NUL characters and shortens a string, so that every database can store it. */
const storable = (text: string): string => text.replaceAll('\0', '').slice(0, MAX_CHARACTERS).toWellFormed()
