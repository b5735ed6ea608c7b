import type { Database, Executor, Statement } from '../../persistence/engines/executor/executor.js'
import { keyPart, sqlText } from '../../persistence/engines/sql-text.js'

/** So long nothing is looked for that is to be removed. */
const PRUNE_EVERY_MS = 3_600_000

/** The rows of `idempotency_markers` of one consumer: the events that it has done. */
export class Markers {
  readonly #statements: ReturnType<typeof statementsFor>
  #prunedAt = performance.now()

  constructor(
    private readonly database: Database,
    private readonly consumer: string,
    private readonly keptMs: number,
  ) {
    this.#statements = statementsFor(database)
  }

  /** @param on - the transaction of the effects. @returns false where the event is done already. */
  async mark(on: Executor, eventId: string): Promise<boolean> {
    const { affected } = await on.run(this.#statements.mark, [keyPart(`${this.consumer}:${eventId}`)])
    return affected === 1
  }

  /** Removes old ones, once in an hour. */
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

  /** What the keys of this consumer begin with. LIKE would take the `_` of a name for any character. */
  get #own(): readonly [length: number, beginning: string] {
    const beginning = `${this.consumer}:`
    return [beginning.length, beginning]
  }
}

const statementsFor = (
  database: Database,
): Readonly<Record<'mark' | 'removeOld' | 'removeAll', Statement>> => {
  const { bound, insertNew, later, now, statement, table } = sqlText(database)
  const [markers, key] = [table('idempotency_markers'), database.dialect.quote('key')]
  const isOwn = `SUBSTR(${key}, 1, ${bound.integer}) = ?`
  return {
    mark: statement(insertNew(markers, [key, 'created_time'], ['?', now])),
    removeOld: statement(`DELETE FROM ${markers} WHERE ${isOwn} AND created_time < ${later}`),
    removeAll: statement(`DELETE FROM ${markers} WHERE ${isOwn}`),
  }
}
