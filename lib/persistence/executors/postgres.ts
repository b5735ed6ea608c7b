import { connect } from 'node:net'
import type { DataSource } from 'typeorm'
import { Aborted, Unavailable } from '../../errors.js'
import { DriverFault } from '../../resource/driver-fault.js'
import type { Database, Lease, Result, RunOptions, Statement } from '../executor.js'
import { cancellable, unlessSilent } from './cancellable.js'
import { checkout } from './checkout.js'
import { NamedStatements } from './named-statements.js'
import { type Connection, PostgresQuery } from './postgres-query.js'
import { maybeStale, StaleStatement } from './stale-statement.js'
import { checkValues } from './values.js'

/** What is used of `pg`. */
interface Pool {
  connect(done: (error: Error | undefined, client: Client | undefined) => void): void
}

interface Client {
  readonly host: string
  readonly port: number
  readonly processID: number
  readonly secretKey: number
  readonly connection?: Connection
  readonly pipeline?: boolean
  /** `I` outside of a transaction, by what the server said last. */
  getTransactionStatus(): string | null
  query(query: PostgresQuery): void
  query(query: { readonly text: string }): Promise<Answer | readonly Answer[]>
  release(destroy?: boolean): void
  on(event: 'error', listener: () => void): void
}

interface Answer {
  readonly command: string
}

/** What that text looks like, whatever the server's configuration or the role says. */
const SESSION = `SELECT ${Object.entries({
  TimeZone: 'UTC',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
})
  .map(([name, value]) => `set_config('${name}', '${value}', false)`)
  .join(', ')}`

/** Sends statements to the pool that TypeORM opened. */
export class PostgresDatabase implements Database {
  readonly dialect = 'postgres'
  readonly #connections = new WeakMap<Client, PostgresConnection>()

  constructor(readonly dataSource: DataSource) {}

  async run(statement: Statement, values: readonly unknown[], options?: RunOptions): Promise<Result> {
    const connection = await this.#connect(options?.signal)
    try {
      return await connection.run(statement, values, options)
    } finally {
      connection.release()
    }
  }

  async lease(options?: RunOptions): Promise<Lease> {
    const connection = await this.#connect(options?.signal)
    connection.signal = options?.signal
    return connection
  }

  async #connect(signal: AbortSignal | undefined): Promise<PostgresConnection> {
    const client = await checkout<Client>((done) => poolOf(this.dataSource).connect(done), signal)
    const known = this.#connections.get(client)
    if (known !== undefined) return known
    client.on('error', () => {}) // The statement that runs is told, or the next one; unheard, it would end the process.
    try {
      checkClient(client)
      await client.query({ text: SESSION })
    } catch (error) {
      client.release(true)
      throw translated(error)
    }
    const connection = new PostgresConnection(client)
    this.#connections.set(client, connection)
    return connection
  }
}

class PostgresConnection implements Lease {
  readonly dialect = 'postgres'
  /** Of whoever leased it. */
  signal: AbortSignal | undefined
  readonly #named = new NamedStatements()
  #isGivenUp = false

  constructor(private readonly client: Client) {}

  async run(statement: Statement, values: readonly unknown[], options?: RunOptions): Promise<Result> {
    checkValues(values, 'postgres')
    try {
      return await this.#send(statement, values, options)
    } catch (error) {
      // What failed outside of a transaction has done nothing; a transaction that has failed is not for here to save.
      if (!(error instanceof StaleStatement) || this.client.getTransactionStatus() !== 'I') throw error
      return this.#send(statement, values, options)
    }
  }

  #send(statement: Statement, values: readonly unknown[], options?: RunOptions): Promise<Result> {
    const isKept = this.#named.isWorthwhile(statement)
    const running = new Promise<Result>((resolve, reject) => {
      const query = new PostgresQuery(statement, values, isKept, (error, result) =>
        result === undefined ? reject(this.#failed(error, query) as Error) : resolve(result),
      )
      this.client.query(query)
    })
    return cancellable(running, options?.signal, {
      cancel: () => cancel(this.client),
      destroy: () => this.#cut(),
    })
  }

  /** A COMMIT after a failed statement is answered with ROLLBACK, and without an error. */
  async control(text: string): Promise<void> {
    const running = this.client.query({ text })
    const answer = await unlessSilent(running, this.signal, () => this.#cut()).catch((error: unknown) => {
      throw this.#failed(error)
    })
    if (text === 'COMMIT' && 'command' in answer && answer.command !== 'COMMIT') {
      throw new Aborted('a statement of the transaction failed, so all of it was rolled back')
    }
  }

  release({ broken = false } = {}): void {
    this.signal = undefined
    this.client.release(broken || this.#isGivenUp || this.#named.isFull)
  }

  #cut(): void {
    this.client.connection?.stream.destroy()
  }

  #failed(error: unknown, query?: PostgresQuery): unknown {
    if (query?.wasPrepared === true && maybeStale(error)) {
      delete this.client.connection?.parsedStatements[query.name]
      return new StaleStatement(error)
    }
    if (!isUnanswered(error)) return translated(error)
    // The statement goes on, and whoever had the connection next would wait for it.
    this.#isGivenUp = true
    void cancel(this.client).catch(() => {})
    return new Unavailable('the database did not answer within query_timeout', new DriverFault(error))
  }
}

/** `pg` has waited for as long as its option `query_timeout` says. */
const isUnanswered = (error: unknown): boolean =>
  error instanceof Error && error.message === 'Query read timeout' && !('severity' in error)

function poolOf(dataSource: DataSource): Pool {
  const { driver } = dataSource
  if ('master' in driver && driver.master !== undefined) return driver.master as Pool
  throw new TypeError('the DataSource is not initialized: await dataSource.initialize() first')
}

function checkClient({ connection, pipeline }: Client): void {
  if (connection === undefined)
    throw new TypeError('pg-native is not supported: uninstall it, and pg is used')
  if (pipeline === true) throw new TypeError('pg cannot pipeline these statements: leave out extra.pipeline')
}

/**
 * An error without a SQLSTATE, or of those after which the server closes the connection, is one of the connection. None
 * keeps its values.
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

/** PostgreSQL's CancelRequest: a connection of its own that says who is meant, and is closed by the server. */
function cancel({ host, port, processID, secretKey }: Client): Promise<void> {
  const request = Buffer.alloc(16)
  request.writeInt32BE(16, 0)
  request.writeInt32BE(80877102, 4)
  request.writeInt32BE(processID | 0, 8)
  request.writeInt32BE(secretKey | 0, 12)
  return new Promise((resolve, reject) => {
    const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
    socket.setTimeout(1000, () => socket.destroy())
    socket.on('error', reject)
    socket.on('close', () => resolve())
    socket.on('connect', () => socket.end(request))
  })
}
