import type { CallEnd } from '../../../call-end.js'
import type { DataSource, QueryRunner } from 'typeorm'
import { postgres } from '../../dialects/postgres.js'
import { EXACT_FLOATS, LISTS_CITUS } from '../../dialects/citus/citus.js'
import { Aborted, Unavailable } from '../../../errors.js'
import { DriverFault } from '../../../faults/driver-fault.js'
import type { BoundStatement, Lease, Result, RunOptions, Statement } from '../executor/executor.js'
import { named } from '../executor/named.js'
import { readOnlyError } from '../errors/read-only-error.js'
import { lacksRoom, resourceError } from '../errors/resource-error.js'
import { cancellable, type Cancelling, unlessSilent, unlessTooLate } from '../executor/cancellable.js'
import { cancellation } from '../errors/cancellation.js'
import { CONNECT_MS } from '../executor/connection-waits.js'
import { NamedStatements } from '../executor/named-statements.js'
import { failedServer } from '../errors/failed-server.js'
import { requestCancel } from './cancel-request.js'
import { type Connection, PostgresQuery } from './postgres-query.js'
import { DistributedMeanwhile } from '../errors/citus-meanwhile.js'
import { maybeStale, StaleStatement } from '../errors/stale-statement.js'
import { checkValues } from '../executor/check-values.js'
import { type PooledConnection, PooledDatabase, poolSizeOf, type Turn } from '../executor/pooled-database.js'
import { ReadLimit } from '../../bytes/read-limit.js'
import type { Writability, WriteQuestions } from '../executor/writability.js'
import { timed } from '../times/statement-times.js'
import { EndedBySql, unwrapped } from '../executor/sent.js'
import { Workers } from './workers.js'

/** The part of `pg` that Ashlar uses. */
interface Pool {
  /** The class with which a pool of `pg` connects. A HotPool has its own timeout. */
  Client?: new (options: object) => object
  connect(done: (error: Error | undefined, client: Client | undefined) => void): void
}

interface Client {
  readonly host: string
  readonly port: number
  readonly processID: number
  readonly secretKey: number
  readonly connection?: Connection
  readonly pipeline?: boolean
  /** Returns `I` outside a transaction, according to the server's last message. */
  getTransactionStatus(): string | null
  query(query: PostgresQuery): void
  query(query: { readonly text: string }): Promise<PgResult | readonly PgResult[]>
  release(destroy?: boolean): void
  on(event: 'error', listener: () => void): void
  on(event: 'notice', listener: (notice: { readonly code?: string }) => void): void
}

interface PgResult {
  readonly command: string
  readonly rows: readonly Readonly<Record<string, unknown>>[]
}

/**
 * Fixes the format of times, independent of the server's and the role's configuration. Set nothing else here.
 * A transaction pooler gives each transaction another session, and only transfers settings that the server
 * reports, such as these two.
 */
const SESSION = `SELECT set_config('TimeZone', 'UTC', false), set_config('DateStyle', 'ISO, MDY', false), pg_backend_pid() AS pid, ${LISTS_CITUS} AS citus`

const IS_DISTRIBUTED = named(`SELECT ${LISTS_CITUS}`)

/** Runs statements on TypeORM's pool for PostgreSQL. */
export class PostgresDatabase extends PooledDatabase<PostgresConnection> {
  readonly dialect = postgres
  readonly #connections = new WeakMap<Client, PostgresConnection>()
  readonly #workers = new Workers((options) => this.lease(options))
  #isDistributed: boolean | undefined

  constructor(dataSource: DataSource) {
    super(dataSource, QUESTIONS)
  }

  get connections(): number {
    return poolSizeOf(this.dataSource, 'max')
  }

  get isDistributed(): boolean | undefined {
    return this.#isDistributed
  }

  unreachableWorkers(): readonly string[] {
    return this.#isDistributed === true ? this.#workers.unreachable() : []
  }

  /**
   * Runs several reads in one round trip.
   *
   * @throws DistributedMeanwhile if the reads fail because the database has become distributed.
   */
  async runAll(reads: readonly BoundStatement[], options?: RunOptions): Promise<readonly Result[]> {
    const wasDistributed = this.#isDistributed
    try {
      return await this.reading((connection) => connection.runAll(reads, options), options)
    } catch (error) {
      if (!(error instanceof DriverFault) || wasDistributed !== false) throw error
      const { rows } = await this.run(IS_DISTRIBUTED, [], options)
      this.#isDistributed = rows[0]?.[0] === 't'
      throw this.#isDistributed ? new DistributedMeanwhile(error) : error
    }
  }

  /**
   * Borrows a query runner's connection without marking it as set up, because a rollback would also revert
   * settings made in the transaction.
   */
  async borrow(runner: QueryRunner): Promise<Lease> {
    const client = (await runner.connect()) as Client
    return this.#connections.get(client) ?? this.#setUp(client, undefined)
  }

  protected async connect(signal: CallEnd | undefined, turn: Turn): Promise<PostgresConnection> {
    const client = await this.checkout<Client>((done) => poolOf(this.dataSource).connect(done), signal, turn)
    const known = this.#connections.get(client)
    if (known !== undefined) return known
    client.on('error', () => {}) // The current or next statement reports the error. Without a listener the error would end the process.
    try {
      const connection = await this.#setUp(client, signal)
      this.#connections.set(client, connection)
      return connection
    } catch (error) {
      client.release(true)
      throw signal?.aborted === true ? cancellation(signal, translated(error)) : translated(error)
    }
  }

  async #setUp(client: Client, signal: CallEnd | undefined): Promise<PostgresConnection> {
    checkClient(client)
    const destroy = () => client.connection?.stream.destroy()
    const asked = unlessSilent(client.query({ text: SESSION }), signal, { destroy })
    const result = await unlessTooLate(asked, CONNECT_MS, destroy)
    const [first] = 'rows' in result ? result.rows : []
    this.#isDistributed = first?.['citus'] === true
    // If the server process differs from the process that opened the connection, there is a pooler. A
    // prepared statement would be missing in the next session and remain in the previous one.
    const isPooled = Number(first?.['pid']) !== client.processID
    // Behind a pooler this could reach any session. Startup reports the setting in that case.
    if (this.#isDistributed && !isPooled)
      await unlessTooLate(
        unlessSilent(client.query({ text: EXACT_FLOATS }), signal, { destroy }),
        CONNECT_MS,
        destroy,
      )
    return new PostgresConnection(this.dataSource, client, isPooled, this.writes, this.#isDistributed)
  }
}

class PostgresConnection implements PooledConnection {
  readonly dialect = postgres
  /** The signal of the call that holds the lease. */
  signal: CallEnd | undefined
  onRelease: (() => void) | undefined
  readonly #named = new NamedStatements()
  #isGivenUp = false
  /** The state of the current or last transaction. */
  readonly #transaction = { isSerial: false, isAborted: false }
  /** The cancel request for a statement that runs on after its caller has left. */
  #lastCancel: Promise<unknown> | undefined

  constructor(
    private readonly dataSource: DataSource,
    private readonly client: Client,
    private readonly isPooled: boolean,
    private readonly writes: Writability,
    isDistributed: boolean,
  ) {
    if (isDistributed)
      client.on('notice', ({ code }) => {
        if (code === '40001') this.#transaction.isAborted = true
      })
  }

  async run(statement: Statement, values: readonly unknown[], options?: RunOptions): Promise<Result> {
    const [result] = await this.runAll([{ statement, values }], options)
    return result as Result
  }

  /** Runs statements of any kind in one round trip. */
  async runAll(statements: readonly BoundStatement[], options?: RunOptions): Promise<readonly Result[]> {
    for (const { values } of statements) checkValues(values, postgres)
    try {
      return await this.#send(statements, options)
    } catch (error) {
      // A statement that failed outside a transaction had no effect, so it can run again. A failed
      // transaction cannot continue.
      if (!(error instanceof StaleStatement) || this.client.getTransactionStatus() !== 'I') throw error
      return this.#send(statements, options)
    }
  }

  #send(statements: readonly BoundStatement[], options?: RunOptions): Promise<readonly Result[]> {
    const parts = statements.map(({ statement, values }) => {
      const mayKeep = !this.isPooled && statement.isPlannedByValue !== true
      const isKept = mayKeep && this.#named.isWorthwhile(statement)
      return { statement, values, name: isKept ? statement.name : '' }
    })
    const [first] = statements
    const { signal, maxBytes } = options ?? {}
    const limit = maxBytes === undefined ? undefined : new ReadLimit(maxBytes, signal)
    const send = () => {
      const running = new Promise<readonly Result[]>((resolve, reject) => {
        const done = (error: unknown, results?: readonly Result[]) => {
          if (results !== undefined) return resolve(this.#responded(results))
          reject(this.#failed(error, first, query) as Error)
        }
        const query = new PostgresQuery(parts, done, limit)
        this.client.query(query)
      })
      return cancellable(running, limit ?? signal, this.#cancelling)
    }
    return first === undefined ? send() : timed(this.dataSource, first.statement, send)
  }

  #responded<T>(results: T): T {
    this.writes.responded()
    return results
  }

  readonly #cancelling: Cancelling = {
    cancel: () => this.#cancel(),
    destroy: () => this.#cut(),
    late: (signal) => {
      if (!(signal instanceof ReadLimit && signal.isExceeded)) this.writes.late(signal)
    },
  }

  /**
   * Sends transaction control. After a failed statement, the server answers COMMIT with ROLLBACK and no
   * error.
   */
  async control(text: string): Promise<void> {
    if (text.startsWith('BEGIN'))
      Object.assign(this.#transaction, { isSerial: SERIAL.test(text), isAborted: false })
    const running = this.client.query({ text })
    const result = await unlessSilent(running, this.signal, this.#cancelling).catch((error: unknown) => {
      throw this.#failed(error)
    })
    if (text === 'COMMIT' && 'command' in result && result.command !== 'COMMIT') {
      throw new Aborted('a statement of the transaction failed, so all of it was rolled back')
    }
  }

  queryRunner(): QueryRunner {
    return Object.assign(this.dataSource.createQueryRunner('master'), { databaseConnection: this.client })
  }

  async sent<T>(send: () => Promise<T>, options?: RunOptions): Promise<T> {
    const running = send().catch(unwrapped)
    const result = await cancellable(running, options?.signal, this.#cancelling).catch((error: unknown) => {
      throw this.#failed(error)
    })
    if (this.client.getTransactionStatus() === 'I') throw new EndedBySql()
    return result
  }

  /**
   * Returns the connection, or closes it if a transaction is still open, because its holder did not know of
   * it.
   */
  release({ broken = false } = {}): void {
    this.signal = undefined
    this.onRelease?.()
    this.onRelease = undefined
    const isIdle = this.client.getTransactionStatus() === 'I'
    if (this.#lastCancel === undefined)
      return this.client.release(broken || !isIdle || this.#isGivenUp || this.#named.isFull)
    // A pooler that loses the connection first no longer knows whose statement to cancel.
    void this.#lastCancel.then(() => this.client.release(true))
  }

  /**
   * Cancels the statement. Closes the connection if the cancel request may still arrive later, because it
   * would cancel the next user's statement.
   */
  async #cancel(): Promise<void> {
    if (await requestCancel(this.client)) return
    this.#isGivenUp = true
    this.#cut()
  }

  #cut(): void {
    this.client.connection?.stream.destroy()
  }

  #failed(error: unknown, sent?: BoundStatement, query?: PostgresQuery): unknown {
    if (lacksRoom(error)) this.writes.full(sent)
    if (query?.wasPrepared === true && maybeStale(error)) {
      delete this.client.connection?.parsedStatements[query.name]
      return new StaleStatement(error)
    }
    const refused = readOnlyError(error)
    if (refused !== undefined) {
      this.#isGivenUp = true
      this.writes.refused()
      return refused
    }
    if (!isTimeout(error))
      return resourceError(error) ?? failedServer(error, this.#transaction) ?? translated(error)
    // The statement is still running, and the connection's next user would wait for it.
    this.#lastCancel = requestCancel(this.client)
    return new Unavailable('the database did not respond within query_timeout', new DriverFault(error))
  }
}

const SERIAL = /REPEATABLE READ|SERIALIZABLE/

/** Selects `on` on a standby, or if a setting of the role or database makes transactions read-only. */
const READ_ONLY = named(`SELECT current_setting('transaction_read_only')`)

const QUESTIONS: WriteQuestions = {
  isReadOnly: async (on, options) => (await on.run(READ_ONLY, [], options)).rows[0]?.[0] === 'on',
}

/** Returns true if the `query_timeout` option of `pg` has expired. */
const isTimeout = (error: unknown): boolean =>
  error instanceof Error && error.message === 'Query read timeout' && !('severity' in error)

const bounded = new WeakSet<Pool>()

function poolOf(dataSource: DataSource): Pool {
  const { driver } = dataSource
  if ('master' in driver && driver.master !== undefined) {
    const pool = driver.master as Pool
    if (!bounded.has(pool)) boundConnecting(pool)
    return pool
  }
  throw new TypeError('the DataSource is not initialized: await dataSource.initialize() first')
}

/**
 * Limits the time to connect. Otherwise a connection that the server never accepts would keep its place in
 * the pool until the operating system gives up, long after the server has recovered.
 */
function boundConnecting(pool: Pool): void {
  bounded.add(pool)
  const { Client } = pool
  if (Client === undefined) return
  pool.Client = class extends Client {
    constructor(options: { readonly connectionTimeoutMillis?: number }) {
      const timeout = { value: options.connectionTimeoutMillis || CONNECT_MS, enumerable: true }
      // Copy the properties including the non-enumerable password.
      super(
        Object.create(Object.prototype, {
          ...Object.getOwnPropertyDescriptors(options),
          connectionTimeoutMillis: timeout,
        }) as object,
      )
    }
  }
}

function checkClient({ connection, pipeline }: Client): void {
  if (connection === undefined)
    throw new TypeError('pg-native is not supported: uninstall it, and pg is used')
  if (pipeline === true) throw new TypeError('pg cannot pipeline these statements: remove extra.pipeline')
}

/**
 * Translates errors. An error without a SQLSTATE, or one after which the server closes the connection, is a
 * connection error. The result contains no values.
 */
function translated(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) return error
  if ('wireMessage' in error) return error
  const code = 'code' in error && 'severity' in error ? String(error.code) : '08000'
  const fault = new DriverFault(error)
  return /^08|^57P0[1235]|^25P0[34]/.test(code)
    ? new Unavailable('the connection to the database was lost', fault)
    : fault
}
