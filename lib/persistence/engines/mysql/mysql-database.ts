import type { CallEnd } from '../../../call-end.js'
import { type DataSource, QueryResult, type QueryRunner } from 'typeorm'
import { Unavailable } from '../../../errors.js'
import { DriverFault } from '../../../faults/driver-fault.js'
import { bufferOf } from '../../dialects/values/buffer-of.js'
import { inPositions } from '../../dialects/values/bound-value.js'
import type { Dialect } from '../../dialects/dialect.js'
import { mariadb, mysql as mysql8 } from '../../dialects/mysql.js'
import type { BoundStatement, Lease, Result, Row, RunOptions, Statement } from '../executor/executor.js'
import { named } from '../executor/named.js'
import { NotPrepared } from '../errors/not-prepared.js'
import { readOnlyError } from '../errors/read-only-error.js'
import { lacksRoom, resourceError } from '../errors/resource-error.js'
import { cancellable, type Cancelling, unlessSilent, unlessTooLate } from '../executor/cancellable.js'
import { CONNECT_MS } from '../executor/connection-waits.js'
import { NamedStatements } from '../executor/named-statements.js'
import { checkValues } from '../executor/check-values.js'
import { type PooledConnection, PooledDatabase, poolSizeOf, type Turn } from '../executor/pooled-database.js'
import { ReadLimit } from '../../bytes/read-limit.js'
import type { Writability, WriteQuestions } from '../executor/writability.js'
import { timed } from '../times/statement-times.js'
import { EndedBySql, unwrapped } from '../executor/sent.js'
import { readRows } from './read-rows.js'
import type { Connection, Module, MysqlDriver, Pool } from './mysql-driver.js'

/**
 * The settings of a session.
 *
 * - READ COMMITTED, as on PostgreSQL. If a write finds no row, the read that follows must see the same state;
 *   MySQL's default,
 * REPEATABLE READ, may return an older one. It also locks gaps, which causes deadlocks between plain inserts.
 * - A strict mode, so that no value is silently truncated or rounded. It omits NO_BACKSLASH_ESCAPES, because
 *   escaping relies on backslashes.
 * - A longer sort length. By default only 1024 bytes of a string are compared, but sort orders need 512
 *   characters, and InnoDB's longest key
 * has 3072 bytes.
 */
const SESSION = [
  `SET NAMES utf8mb4, time_zone = '+00:00'`,
  `SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION', max_sort_length = 4096`,
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
]

/**
 * The maximum number of prepared statements of one connection. All clients of a server share
 * `max_prepared_stmt_count`, by default 16,382.
 */
const MAX_PREPARED = 128
/** ER_MAX_PREPARED_STMT_COUNT_REACHED */
const NO_ROOM = 1461

const FOUND_ROWS = 2
const UTF8MB4 = 224

/** Runs statements on TypeORM's pool for MySQL and MariaDB. */
export class MysqlDatabase extends PooledDatabase {
  readonly isDistributed = false
  readonly #connections = new WeakMap<Connection, MysqlConnection>()

  constructor(
    dataSource: DataSource,
    private readonly forced: 'mysql' | 'mariadb' | undefined,
  ) {
    super(dataSource, QUESTIONS)
  }

  get connections(): number {
    return poolSizeOf(this.dataSource, 'connectionLimit')
  }

  /**
   * The dialect by VERSION(), which TypeORM has queried. MariaDB's versions start at 10, which MySQL has not
   * reached.
   */
  get dialect(): Dialect {
    if (this.forced !== undefined) return this.forced === 'mariadb' ? mariadb : mysql8
    if (this.dataSource.options.type === 'mariadb') return mariadb
    return Number.parseInt(initialized(this.#driver.version), 10) >= 10 ? mariadb : mysql8
  }

  async borrow(runner: QueryRunner): Promise<Lease> {
    const connection = (await runner.connect()) as Connection
    return this.#connections.get(connection) ?? this.#setUp(connection)
  }

  /** The driver with members that TypeORM's type does not declare. */
  get #driver(): MysqlDriver {
    return this.dataSource.driver as unknown as MysqlDriver
  }

  protected async connect(signal: CallEnd | undefined, turn: Turn): Promise<MysqlConnection> {
    const pool = initialized(this.#driver.pool)
    // Without a timeout, a connection that the server never accepts would keep its place in the pool.
    pool.config.connectionConfig.connectTimeout ||= CONNECT_MS
    const connection = await this.checkout<Connection>((done) => pool.getConnection(done), signal, turn)
    const known = this.#connections.get(connection)
    if (known === undefined) return this.#setUp(connection)
    known.isIdle = true
    return known
  }

  async #setUp(connection: Connection): Promise<MysqlConnection> {
    const { mysql, pool } = this.#driver
    connection.on('error', () => {}) // The current or next statement reports the error. Without a listener the error would end the process.
    connection.config.charsetNumber = UTF8MB4
    connection.config.jsonStrings = true
    try {
      if ((connection.config.clientFlags & FOUND_ROWS) === 0) {
        throw new TypeError('the MySQL connection flag FOUND_ROWS must stay on: remove it from `flags`')
      }
      const ready = async () => {
        for (const text of SESSION) await query(connection, text)
      }
      await unlessTooLate(ready(), CONNECT_MS, () => connection.stream.destroy())
    } catch (error) {
      connection.destroy()
      throw translated(error)
    }
    const fresh = new MysqlConnection(
      this.dataSource,
      this.dialect,
      connection,
      mysql,
      initialized(pool),
      this.writes,
    )
    this.#connections.set(connection, fresh)
    return fresh
  }
}

class MysqlConnection implements PooledConnection {
  /** The signal of the call that holds the lease. */
  signal: CallEnd | undefined
  onRelease: (() => void) | undefined
  readonly #named = new NamedStatements({
    most: MAX_PREPARED,
    close: ({ text }) => this.connection.unprepare({ ...TEXT, sql: text }),
  })
  /** False if the server's last message reported an open transaction. */
  isIdle = true
  #isCut = false
  #isGivenUp = false

  constructor(
    private readonly dataSource: DataSource,
    readonly dialect: Dialect,
    private readonly connection: Connection,
    private readonly mysql: Module,
    private readonly pool: Pool,
    private readonly writes: Writability,
  ) {}

  async run(statement: Statement, values: readonly unknown[], options?: RunOptions): Promise<Result> {
    checkValues(inPositions(values, statement), this.dialect)
    try {
      return await timed(this.dataSource, statement, () => this.#execute(statement, values, options))
    } catch (error) {
      if (!hasNoRoom(error)) throw error
      // The statement was not prepared and so has not run.
      this.#named.closeAll()
      return this.#execute(statement, values, options).catch((again: unknown) => {
        throw hasNoRoom(again) ? new NotPrepared(again) : again
      })
    }
  }

  async #execute(statement: Statement, values: readonly unknown[], options?: RunOptions): Promise<Result> {
    const isKept = this.#named.isWorthwhile(statement)
    const query = { ...TEXT, sql: statement.text, values: inPositions(values, statement).map(this.#bound) }
    const { signal, maxBytes } = options ?? {}
    const limit = maxBytes === undefined ? undefined : new ReadLimit(maxBytes, signal)
    const running = new Promise<Result>((resolve, reject) => {
      const done = (error: Error | null, result?: unknown) => {
        const status = statusIn(result)
        if (status !== undefined) this.isIdle = (status & IN_TRANSACTION) === 0
        if (error !== null) return reject(error)
        this.writes.responded()
        resolve(toResult(result))
      }
      if (limit === undefined) this.connection.execute(query, done)
      else readRows(limit, this.connection, query, done)
    })
    try {
      return await cancellable(running, limit ?? signal, this.#cancelling)
    } catch (error) {
      throw this.#failed(error, { statement, values })
    } finally {
      if (!isKept) this.connection.unprepare({ ...TEXT, sql: statement.text })
    }
  }

  queryRunner(): QueryRunner {
    return Object.assign(this.dataSource.createQueryRunner('master'), { databaseConnection: this.connection })
  }

  async sent<T>(send: () => Promise<T>, options?: RunOptions): Promise<T> {
    const running = send().catch(unwrapped)
    const result = await cancellable(running, options?.signal, this.#cancelling).catch((error: unknown) => {
      throw this.#failed(error)
    })
    if (hasEnded(result)) throw new EndedBySql()
    return result
  }

  async control(text: string): Promise<void> {
    const running = query(this.connection, text).then((header) => {
      this.isIdle = ENDS.test(text) ? !isInTransaction(header) : false
    })
    await unlessSilent(running, this.signal, this.#cancelling).catch((error: unknown) => {
      throw this.#failed(error)
    })
  }

  readonly #cancelling: Cancelling = {
    cancel: () => kill(this.mysql, this.pool, this.connection),
    // Destroys the stream. `destroy()` of the connection would first wait for the statement's response.
    destroy: () => this.connection.stream.destroy(),
    late: (signal) => {
      if (!(signal instanceof ReadLimit && signal.isExceeded)) this.writes.late(signal)
    },
  }

  release({ broken = false } = {}): void {
    this.signal = undefined
    this.onRelease?.()
    this.onRelease = undefined
    if (broken || !this.isIdle || this.#isGivenUp || this.#named.isFull) this.#cut()
    else if (!this.#isCut) this.connection.release()
  }

  #failed(error: unknown, sent?: BoundStatement): unknown {
    if (lacksRoom(error)) this.writes.full(sent)
    const refused = readOnlyError(error)
    if (refused === undefined) return resourceError(error) ?? translated(error)
    this.#isGivenUp = true
    this.writes.refused()
    return refused
  }

  #cut(): void {
    this.#isCut = true
    this.connection.destroy()
  }

  /**
   * Binds integers as integers. `mysql2` binds every number as a float, which fails in comparisons with
   * 64-bit columns and in LIMIT.
   */
  readonly #bound = (value: unknown): unknown => {
    const typed = this.mysql.TypedParameter
    if (value instanceof Uint8Array) return bufferOf(value)
    if (typed === undefined || (typeof value !== 'bigint' && !Number.isSafeInteger(value))) return value
    const integer = BigInt(value as bigint | number)
    if (integer === BigInt.asIntN(64, integer)) return typed.LONGLONG(integer)
    return integer === BigInt.asUintN(64, integer) ? typed.LONGLONG.unsigned(integer) : integer.toString()
  }
}

const hasNoRoom = (error: unknown): boolean =>
  error instanceof Error && 'errno' in error && error.errno === NO_ROOM

/** Options that return values as strings if a JavaScript number or Date would change them. */
const TEXT = {
  rowsAsArray: true,
  supportBigNumbers: true,
  bigNumberStrings: true,
  dateStrings: true,
  decimalNumbers: false,
  nestTables: false,
  typeCast: true,
  namedPlaceholders: false,
}

/** Some of these variables exist on only one of the engines. */
const READ_ONLY = named(
  `SHOW VARIABLES WHERE variable_name IN ('read_only', 'super_read_only', 'innodb_read_only', 'transaction_read_only', 'tx_read_only')`,
)

/**
 * Counts tables whose engine does not undo writes in a rollback. It covers the connection's schema and
 * schemas that a statement names.
 */
const NOT_UNDONE = named(
  `SELECT COUNT(*) FROM information_schema.TABLES t LEFT JOIN information_schema.ENGINES e ON e.ENGINE = t.ENGINE ` +
    "WHERE (t.TABLE_SCHEMA = DATABASE() OR LOCATE(CONCAT('`', t.TABLE_SCHEMA, '`.'), ?) > 0) " +
    `AND t.TABLE_TYPE NOT LIKE '%VIEW' AND COALESCE(e.TRANSACTIONS, 'NO') <> 'YES'`,
)

const QUESTIONS: WriteQuestions = {
  isReadOnly: async (on, options) =>
    (await on.run(READ_ONLY, [], options)).rows.some(([, value]) => value !== 'OFF'),
  isUndone: async (on, { statement }, options) =>
    Number((await on.run(NOT_UNDONE, [statement.text], options)).rows[0]?.[0]) === 0,
}

function toResult(result: unknown): Result {
  if (Array.isArray(result)) return { rows: result as Row[], affected: result.length }
  return { rows: [], affected: (result as { readonly affectedRows: number }).affectedRows }
}

function initialized<T>(value: T | undefined): T {
  if (value !== undefined) return value
  throw new TypeError('the DataSource is not initialized: await dataSource.initialize() first')
}

function query(connection: Connection, text: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    connection.query(text, (error, header) => (error === null ? resolve(header) : reject(error)))
  })
}

const ENDS = /^(?:COMMIT|ROLLBACK)$/
const IN_TRANSACTION = 1

/** Returns the server status in the response to a statement without rows, or undefined if it has none. */
const statusIn = (header: unknown): number | undefined =>
  typeof header === 'object' && header !== null && 'serverStatus' in header
    ? Number(header.serverStatus)
    : undefined

const isInTransaction = (header: unknown): boolean => ((statusIn(header) ?? 0) & IN_TRANSACTION) !== 0

/**
 * Returns true if the response shows that no transaction is open. TypeORM returns the response unchanged or
 * wrapped; a procedure returns rows first.
 */
function hasEnded(result: unknown): boolean {
  const raw: unknown = result instanceof QueryResult ? result.raw : result
  const header: unknown = Array.isArray(raw) ? raw.at(-1) : raw
  const status = statusIn(header)
  return status !== undefined && (status & IN_TRANSACTION) === 0
}

/**
 * Translates a driver's error. It becomes a connection error if the server did not report it, or reported it
 * while it was shutting down. The result contains no row values.
 */
function translated(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) return error
  if ('wireMessage' in error) return error
  const isServers =
    'sqlState' in error && typeof error.sqlState === 'string' && !error.sqlState.startsWith('08')
  const isKilled = 'errno' in error && (error.errno === 1053 || error.errno === 1927)
  const fault = new DriverFault(error)
  return isServers && !isKilled ? fault : new Unavailable('the connection to the database was lost', fault)
}

/**
 * Kills a statement through a separate connection, because the pool may be full of statements to kill. It
 * logs in as the user of the statement's connection; the pool may have moved to another user since.
 */
async function kill(mysql: Module, pool: Pool, { threadId, config: own }: Connection): Promise<void> {
  const { connectionConfig } = pool.config
  const login = connectionConfig.user === own.user ? connectionConfig : own
  const config = Object.create(
    Object.getPrototypeOf(login) as object,
    Object.getOwnPropertyDescriptors(login),
  ) as object
  const connection = new mysql.Connection({ config })
  connection.on('error', () => {})
  try {
    await query(connection, `KILL QUERY ${threadId}`)
  } finally {
    connection.destroy()
  }
}
