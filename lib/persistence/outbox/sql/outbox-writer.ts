import type { Database, Executor, RunOptions, Statement } from '../../engines/executor/executor.js'
import { named } from '../../engines/executor/named.js'
import { sqlText } from '../../engines/sql-text.js'
import type { OutboxRow } from '../events/outbox-row.js'
import { SQLITE_OUTBOX } from './outbox-tables.js'
import { WakeUp } from './wake-up.js'

/** So many rows one statement takes. */
const MAX_ROWS = 64

const COLUMNS = 'id, account_id, aggregate_type, aggregate_id, event_type, payload, created_time'

/** The types of the values of a row, on PostgreSQL. */
export const OUTBOX_TYPES = ['text', 'text', 'text', 'text', 'text', 'bytea'] as const

/** The parameters of a row. */
export const outboxValues = ({
  id,
  accountId,
  aggregateType,
  aggregateId,
  eventType,
  payload,
}: OutboxRow): readonly unknown[] => [id, accountId, aggregateType, aggregateId, eventType, payload]

/** Writes events into the table `outbox` of one database. */
export class OutboxWriter {
  readonly #statements = new Map<number, Statement>()
  readonly #createTable: Statement | undefined
  /** For after the commit. */
  readonly wake: () => void

  private constructor(private readonly database: Database) {
    this.wake = WakeUp.of(database).wake
    if (database.dialect.ddl.migration === undefined) this.#createTable = named(SQLITE_OUTBOX)
  }

  /** The same for each database. */
  static of(database: Database): OutboxWriter {
    const known = writers.get(database)
    if (known !== undefined) return known
    const writer = new OutboxWriter(database)
    writers.set(database, writer)
    return writer
  }

  /**
   * True if a statement can insert an event with its row. On several servers, the events are on another one
   * than the row: such a statement would run on all.
   */
  get isBeside(): boolean {
    return this.database.isDistributed !== true
  }

  /** True outside of a transaction. */
  isPool(on: Executor): boolean {
    return on === this.database
  }

  /**
   * @param on - the transaction of the changes. Each row draws its position when it is inserted, in their
   * order.
   */
  async append(on: Executor, rows: readonly OutboxRow[], run?: RunOptions): Promise<void> {
    if (rows.length === 0) return
    // Within the transaction, which may take it back.
    if (this.#createTable !== undefined) await on.run(this.#createTable, [], run)
    for (let at = 0; at < rows.length;) {
      const count = largestPowerOfTwo(Math.min(MAX_ROWS, rows.length - at))
      const values = rows.slice(at, at + count).flatMap(outboxValues)
      await on.run(this.#insert(count), values, run)
      at += count
    }
  }

  /** Of events that no operation of a repository writes. */
  async appendOwn(
    on: Executor & { afterCommit(fn: () => unknown): void },
    rows: readonly OutboxRow[],
  ): Promise<void> {
    await this.append(on, rows)
    on.afterCommit(this.wake)
  }

  /**
   * Inserts an event for each row of `from`, in a statement that writes those rows: it draws its position
   * when its row has been written.
   * @param values - SQL of what {@link outboxValues} gives.
   */
  readonly along = (values: readonly string[], from: string): string => {
    const { table, now } = sqlText(this.database)
    return `INSERT INTO ${table('outbox')} (${COLUMNS}) SELECT ${values.join(', ')}, ${now} FROM ${from}`
  }

  /** Few texts for many lengths. */
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
