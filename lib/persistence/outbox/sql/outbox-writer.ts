import type { Database, Executor, RunOptions, Statement } from '../../engines/executor/executor.js'
import { named } from '../../engines/executor/named.js'
import { sqlText } from '../../engines/sql-text.js'
import type { OutboxRow } from '../events/outbox-row.js'
import { SQLITE_OUTBOX } from './outbox-tables.js'
import { WakeUp } from './wake-up.js'

/** The maximum number of rows in one statement. */
const MAX_ROWS = 64

const COLUMNS = 'id, account_id, aggregate_type, aggregate_id, event_type, payload, created_time'

/** The PostgreSQL types of a row's values. */
export const OUTBOX_TYPES = ['text', 'text', 'text', 'text', 'text', 'bytea'] as const

/** Returns the parameters of a row. */
export const outboxValues = ({
  id,
  accountId,
  aggregateType,
  aggregateId,
  eventType,
  payload,
}: OutboxRow): readonly unknown[] => [id, accountId, aggregateType, aggregateId, eventType, payload]

/** Writes events to a database's `outbox` table. */
export class OutboxWriter {
  readonly #statements = new Map<number, Statement>()
  readonly #createTable: Statement | undefined
  /** Wakes up consumers. Call it after the commit. */
  readonly wake: () => void

  private constructor(private readonly database: Database) {
    this.wake = WakeUp.of(database).wake
    if (database.dialect.ddl.migration === undefined) this.#createTable = named(SQLITE_OUTBOX)
  }

  /** Returns the writer of a database, the same object each time. */
  static of(database: Database): OutboxWriter {
    const known = writers.get(database)
    if (known !== undefined) return known
    const writer = new OutboxWriter(database)
    writers.set(database, writer)
    return writer
  }

  /**
   * True if a statement can insert an event together with its row. In a distributed database, row and event
   * are on different servers, so such a statement would run on all servers.
   */
  get isBeside(): boolean {
    return this.database.isDistributed !== true
  }

  /** Returns true outside a transaction. */
  isPool(on: Executor): boolean {
    return on === this.database
  }

  /**
   * Inserts events. Each row gets its position when it is inserted, in the order of the rows.
   *
   * @param on - the transaction of the changes.
   */
  async append(on: Executor, rows: readonly OutboxRow[], run?: RunOptions): Promise<void> {
    if (rows.length === 0) return
    // The transaction may roll back the creation of the table, so this is repeated each time.
    if (this.#createTable !== undefined) await on.run(this.#createTable, [], run)
    for (let at = 0; at < rows.length;) {
      const count = largestPowerOfTwo(Math.min(MAX_ROWS, rows.length - at))
      const values = rows.slice(at, at + count).flatMap(outboxValues)
      await on.run(this.#insert(count), values, run)
      at += count
    }
  }

  /** Inserts events that the application emits. */
  async appendOwn(
    on: Executor & { afterCommit(fn: () => unknown): void },
    rows: readonly OutboxRow[],
  ): Promise<void> {
    await this.append(on, rows)
    on.afterCommit(this.wake)
  }

  /**
   * Returns SQL that inserts an event for each row of `from`. As part of the statement that writes these
   * rows, it assigns positions after the rows are written.
   *
   * @param values - SQL expressions for the values of {@link outboxValues}.
   */
  readonly along = (values: readonly string[], from: string): string => {
    const { table, now } = sqlText(this.database)
    return `INSERT INTO ${table('outbox')} (${COLUMNS}) SELECT ${values.join(', ')}, ${now} FROM ${from}`
  }

  /** Returns an INSERT for a number of rows. Batches are split so that few distinct statements are needed. */
  #insert(count: number): Statement {
    const known = this.#statements.get(count)
    if (known !== undefined) return known
    const { table, now, statement } = sqlText(this.database)
    const row = `(?, ?, ?, ?, ?, ?, ${now})`
    const made = statement(
      `INSERT INTO ${table('outbox')} (${COLUMNS}) ` + `VALUES ${Array<string>(count).fill(row).join(', ')}`,
    )
    this.#statements.set(count, made)
    return made
  }
}

const writers = new WeakMap<Database, OutboxWriter>()

const largestPowerOfTwo = (count: number): number => 2 ** Math.floor(Math.log2(count))
