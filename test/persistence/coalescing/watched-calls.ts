import type { DataSource } from 'typeorm'
import type { Database } from '../../../lib/persistence/engines/executor/executor.js'
import { executorOf } from '../../../lib/persistence/engines/executor-of.js'
import { type SentStatement, watchStatements } from '../../../lib/persistence/engines/watch-statements.js'

/** Calls go out alone until the rules of the table are known, or always. */
const MOST_ROUNDS = 20

/** A database, and what is sent to it. */
export abstract class WatchedCalls {
  sent: SentStatement[] = []
  readonly database: Database

  protected constructor(
    readonly dataSource: DataSource,
    readonly close: () => Promise<void>,
  ) {
    this.database = executorOf(dataSource)
    watchStatements(dataSource, (statement) => this.sent.push(statement))
  }

  /** The statements of several calls. */
  get together(): readonly SentStatement[] {
    return this.sent.filter(({ calls }) => calls > 1)
  }

  /** Reads until calls share statements; what is sent for that is forgotten. */
  protected async warmUp(readAll: () => Promise<unknown>): Promise<void> {
    this.sent = []
    for (let round = 0; round < MOST_ROUNDS && this.together.length === 0; round++) await readAll()
    this.sent = []
  }

  /** Does something else with statements while a function runs. */
  async changed<T>(change: (run: Database['run']) => Database['run'], fn: () => Promise<T>): Promise<T> {
    const { run } = this.database
    this.database.run = change(run.bind(this.database))
    try {
      return await fn()
    } finally {
      this.database.run = run
    }
  }
}
