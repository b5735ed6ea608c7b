import { ConnectionWaits } from '../executor/connection-waits.js'
import { withoutValues } from '../../../faults/driver-fault.js'
import type {
  BoundStatement,
  Database,
  Executor,
  Lease,
  Result,
  RunOptions,
  Statement,
} from '../executor/executor.js'
import { named } from '../executor/named.js'
import { QUERY_ONLY, sqlite } from '../../dialects/sqlite.js'
import { inPositions } from '../../dialects/values/bound-value.js'
import { readOnlyError } from '../errors/read-only-error.js'
import { lacksRoom, resourceError } from '../errors/resource-error.js'
import type { DataSource, QueryRunner } from 'typeorm'
import { SqliteDriver } from './driver.js'
import { SqliteQueryRunner } from './query-runner.js'
import { timed } from '../times/statement-times.js'
import { unwrapped } from '../executor/sent.js'
import type { SqliteLease, SqliteLeases } from './leases.js'
import { Writability, type WriteQuestions } from '../executor/writability.js'

/** Runs statements on the connection of a SqliteDataSource. */
export class SqliteDatabase implements Database {
  readonly isDistributed = false
  readonly dialect = sqlite
  readonly connections = 1
  readonly #writes = new Writability((options) => this.lease(options), QUESTIONS)
  /** The turns have their own time limit. */
  readonly #waits = new ConnectionWaits({ database: this, size: 1, used: 1 }, 0)

  constructor(readonly dataSource: DataSource) {}

  run(statement: Statement, values: readonly unknown[], options?: RunOptions): Promise<Result> {
    const { text } = statement
    const bound = inPositions(values, statement)
    const { signal, context } = options ?? {}
    const send = () =>
      this.#waits.isNeeded
        ? this.#waits.wait((end) => this.#leases.run(text, bound, 'array', end, context), signal)
        : this.#leases.run(text, bound, 'array', signal, context)
    const running = timed(this.dataSource, statement, send as () => Promise<Result>)
    return running.catch((error: unknown) => this.#rethrow(error, { statement, values }))
  }

  async lease(options?: RunOptions): Promise<Lease> {
    const lease = await this.#waits.wait(
      (signal) => this.#leases.lease(signal, options?.context),
      options?.signal,
    )
    return new SqliteExecutorLease(this.dataSource, lease, this.#rethrow)
  }

  borrow(runner: QueryRunner): Promise<Lease> {
    const lease = runner instanceof SqliteQueryRunner ? runner.lease : undefined
    return lease === undefined
      ? Promise.reject(new TypeError('the query runner has no transaction open'))
      : Promise.resolve(new SqliteExecutorLease(this.dataSource, lease, this.#rethrow))
  }

  checkWrites(): Promise<void> {
    return this.#writes.check()
  }

  readonly #rethrow = (error: unknown, sent?: BoundStatement): never => {
    if (lacksRoom(error)) this.#writes.full(sent)
    const refused = readOnlyError(error)
    if (refused === undefined) throw resourceError(error) ?? withoutValues(error)
    this.#writes.refused()
    throw refused
  }

  get #leases(): SqliteLeases {
    const { driver } = this.dataSource
    const leases = driver instanceof SqliteDriver ? driver.leases : undefined
    if (leases === undefined)
      throw new TypeError('the DataSource is not initialized: await dataSource.initialize() first')
    return leases
  }
}

class SqliteExecutorLease implements Lease {
  readonly dialect: Executor['dialect'] = sqlite

  constructor(
    private readonly dataSource: DataSource,
    private readonly lease: SqliteLease,
    private readonly rethrow: (error: unknown, sent?: BoundStatement) => never,
  ) {}

  run(statement: Statement, values: readonly unknown[], options?: RunOptions): Promise<Result> {
    const send = () =>
      this.lease.run(statement.text, inPositions(values, statement), 'array', options?.signal)
    const running = timed(this.dataSource, statement, send as () => Promise<Result>)
    return running.catch((error: unknown) => this.#rethrow(error, { statement, values }))
  }

  async control(text: string): Promise<void> {
    if (text === QUERY_ONLY)
      return this.lease.refuseWrites(text).catch((error: unknown) => this.rethrow(error))
    await this.lease.run(text, [], 'array').catch((error: unknown) => this.rethrow(error))
  }

  queryRunner(): QueryRunner {
    const runner = this.dataSource.createQueryRunner('master')
    if (runner instanceof SqliteQueryRunner) runner.use(this.lease)
    return runner
  }

  sent<T>(send: () => Promise<T>): Promise<T> {
    return send()
      .catch(unwrapped)
      .catch((error: unknown) => this.#rethrow(error))
  }

  /** Rethrows an error. In a read-only transaction a rejected write does not concern the database's state. */
  readonly #rethrow = (error: unknown, sent?: BoundStatement): never => {
    if (this.lease.isReadOnly) throw readOnlyError(error) ?? withoutValues(error)
    return this.rethrow(error, sent)
  }

  /** Rolls back a broken connection instead of closing it, because there is only one. */
  release({ broken = false } = {}): void {
    void this.lease.release(!broken)
  }
}

const TABLE = named(
  `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' LIMIT 1`,
)

const VERSION = named('PRAGMA user_version')

const QUESTIONS: WriteQuestions = {
  /** Tries a write, because SQLite reports a read-only file only in this way. */
  async isReadOnly(on, options) {
    const [table] = (await on.run(TABLE, [], options)).rows
    if (table === undefined) return false
    const nothing = named(`DELETE FROM ${sqlite.text.quote(String(table[0]))} WHERE 1 = 0`)
    return on.run(nothing, [], options).then(
      () => false,
      () => true,
    )
  },

  /**
   * Commits a write that changes nothing. Pages reach the disk at the commit, and writing the version in the
   * file's header is enough.
   */
  async commit(on, options) {
    await on.control('BEGIN IMMEDIATE')
    const [row] = (await on.run(VERSION, [], options)).rows
    await on.run(named(`PRAGMA user_version = ${Number(row?.[0])}`), [], options)
    await on.control('COMMIT')
  },
}
