import { createHash } from 'node:crypto'
import type { Database, Executor, Statement } from '../../persistence/engines/executor/executor.js'
import { keyPart, sqlText } from '../../persistence/engines/sql-text.js'

/** The minimum time in milliseconds between two removals of old markers. */
const PRUNE_EVERY_MS = 3_600_000

/**
 * Reads and writes the rows of `idempotency_markers` of one consumer, which record the events that it has
 * handled. An event's id is only unique within its tenant. Otherwise a client that may send events of one
 * tenant could mark events of another. Markers from before 0.1.0 have no tenant and count until they are
 * removed.
 */
export class Markers {
  readonly #statements: ReturnType<typeof statementsFor>
  #prunedAt = performance.now()
  #hasOlder = true

  constructor(
    private readonly database: Database,
    private readonly consumer: string,
    private readonly keptMs: number,
  ) {
    this.#statements = statementsFor(database)
  }

  /** Checks for markers without a tenant, which processes of an older version may have written. */
  async begin(): Promise<void> {
    const [length, own] = this.#own
    const { rows } = await this.database.run(this.#statements.older, [length, own, length + 1, `${own}:`])
    this.#hasOlder = rows.length > 0
  }

  /**
   * Records an event as handled.
   *
   * @param on - the transaction of the effects.
   * @returns false if the event was already handled.
   */
  async mark(on: Executor, tenant: string, eventId: string): Promise<boolean> {
    const { mark, find } = this.#statements
    const { affected } = await on.run(mark, [keyOf(this.consumer, tenant, eventId)])
    if (affected !== 1 || !this.#hasOlder) return affected === 1
    const { rows } = await on.run(find, [keyPart(`${this.consumer}:${eventId}`)])
    return rows.length === 0
  }

  /** Removes old markers, at most once an hour. */
  async prune(): Promise<void> {
    if (performance.now() - this.#prunedAt < PRUNE_EVERY_MS) return
    await this.removeOld()
    this.#prunedAt = performance.now()
  }

  async removeOld(): Promise<void> {
    await this.database.run(this.#statements.removeOld, [...this.#own, -this.keptMs])
  }

  async removeAll(): Promise<void> {
    await this.database.run(this.#statements.removeAll, this.#own)
  }

  /**
   * The prefix of this consumer's keys. It is compared without LIKE, in which the `_` of a name matches any
   * character.
   */
  get #own(): readonly [length: number, beginning: string] {
    const beginning = `${this.consumer}:`
    return [beginning.length, beginning]
  }
}

/** Returns the key of an event's marker, which is unique and begins with the consumer's name. */
const keyOf = (consumer: string, tenant: string, eventId: string): string => {
  const [beginning, event] = [
    `${consumer}::`,
    `${tenant.replaceAll('%', '%25').replaceAll(':', '%3A')}:${eventId}`,
  ]
  const isWellFormed = event.isWellFormed()
  if (isWellFormed && !event.includes('\0') && Buffer.byteLength(beginning + event) <= KEY_BYTES)
    return beginning + event
  const bytes = Buffer.from(event, isWellFormed ? 'utf8' : 'utf16le')
  return `${beginning}=${createHash('sha256').update(bytes).digest('base64url')}`
}

const KEY_BYTES = 255

const statementsFor = (
  database: Database,
): Readonly<Record<'mark' | 'find' | 'older' | 'removeOld' | 'removeAll', Statement>> => {
  const { bound, insertNew, later, now, statement, table } = sqlText(database)
  const [markers, key] = [table('idempotency_markers'), database.dialect.text.quote('key')]
  const isOwn = `SUBSTR(${key}, 1, ${bound.integer}) = ?`
  return {
    find: statement(`SELECT 1 AS found FROM ${markers} WHERE ${key} = ?`),
    older: statement(
      `SELECT 1 AS found FROM ${markers} WHERE (${isOwn} AND NOT (${isOwn})) OR SUBSTR(${key}, 1, 7) = 'sha256:' LIMIT 1`,
    ),
    mark: statement(insertNew(markers, [key, 'created_time'], ['?', now])),
    removeOld: statement(`DELETE FROM ${markers} WHERE ${isOwn} AND created_time < ${later}`),
    removeAll: statement(`DELETE FROM ${markers} WHERE ${isOwn}`),
  }
}
