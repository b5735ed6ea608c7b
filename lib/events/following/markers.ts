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
    await this.database.run(this.#statements.remove, [`${this.consumer}:%`, -this.keptMs])
  }
}

const statementsFor = (database: Database): Readonly<Record<'mark' | 'remove', Statement>> => {
  const { insertNew, later, now, statement, table } = sqlText(database)
  const [markers, key] = [table('idempotency_markers'), database.dialect.quote('key')]
  return {
    mark: statement(insertNew(markers, [key, 'created_time'], ['?', now])),
    remove: statement(`DELETE FROM ${markers} WHERE ${key} LIKE ? AND created_time < ${later}`),
  }
}
