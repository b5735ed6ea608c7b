import type { CallEnd } from '../../../call-end.js'
import type { DataSource, QueryRunner } from 'typeorm'
import { RequestContext } from '../../../context.js'
import type { Dialect } from '../../dialects/dialect.js'
import { Unavailable, UnknownOutcome } from '../../../errors.js'
import { NotPrepared } from '../errors/not-prepared.js'
import { TAKES_NO_WRITES } from '../errors/read-only-error.js'
import { REFUSES_CONNECTIONS } from '../errors/failed-server.js'
import { LACKS_RESOURCES } from '../errors/resource-error.js'
import { checkout, type Connect } from './checkout.js'
import { ConnectionsHeld, ConnectionWaits } from './connection-waits.js'
import type { Database, Lease, PoolUse, Result, RunOptions, Statement } from './executor.js'
import { type Held, NO_TENANT, TenantTurns } from './tenant-turns.js'
import { Writability, type WriteQuestions } from './writability.js'

/** A call's turn to use a connection. */
export interface Turn {
  readonly tenant: string
  /** The counter that includes this connection. Undefined while the call waits for its turn. */
  held: Held | undefined
  /** Ends the wait. */
  leave?: () => void
}

/** A pooled connection. `signal` belongs to the lease's holder. */
export interface PooledConnection extends Lease {
  signal: CallEnd | undefined
  /** The turn of the call that holds the connection. */
  turn?: Turn
  /** Called once when the holder returns the connection. */
  onRelease: (() => void) | undefined
}

/** The base of the databases that TypeORM reaches through a connection pool (PostgreSQL and MySQL). */
export abstract class PooledDatabase<C extends PooledConnection = PooledConnection> implements Database {
  abstract readonly dialect: Dialect
  readonly endsReads = true
  protected readonly writes: Writability
  protected readonly waits: ConnectionWaits
  readonly #turns = new TenantTurns(() => this.connections)
  readonly #use = { used: 0, waiting: 0, shared: 0, sharing: 0 }

  constructor(
    readonly dataSource: DataSource,
    questions: WriteQuestions,
  ) {
    this.writes = new Writability((options) => this.lease(options), questions)
    const [use, size] = [this.#use, () => this.connections]
    this.waits = new ConnectionWaits({
      database: this,
      get size() {
        return size()
      },
      get used() {
        return use.used
      },
    })
  }

  abstract get connections(): number

  checkWrites(): Promise<void> {
    return this.writes.check()
  }

  set maxTenantConnections(most: number) {
    this.#turns.maxOfTenant = most
  }

  serveWaiting(): void {
    this.#turns.renew()
  }

  get use(): PoolUse {
    return this.#use
  }

  async run(statement: Statement, values: readonly unknown[], options?: RunOptions): Promise<Result> {
    const connection = await this.#taken(options)
    if (options?.calls !== undefined && options.calls > 1) {
      this.#use.shared++
      this.#use.sharing += options.calls
    }
    try {
      return await connection.run(statement, values, options)
    } catch (error) {
      if (error instanceof Unavailable && !isResponse(error)) this.writes.unreachable()
      throw mayBeSaved(error, statement)
        ? new UnknownOutcome(`${error.message}: it is unknown whether the change was saved`, error)
        : error
    } finally {
      this.#release(connection)
    }
  }

  async lease(options?: RunOptions): Promise<Lease> {
    const connection = await this.#taken(options)
    const { turn } = connection
    connection.onRelease = () => this.#left(turn)
    connection.signal = options?.signal
    return connection
  }

  async #taken({ signal, context = RequestContext.current() }: RunOptions = {}): Promise<C> {
    const tenant = context.system === undefined ? (context.tenant ?? NO_TENANT) : NO_TENANT
    this.#use.waiting++
    // A call that already holds a connection must not wait for other calls, which may be waiting for it.
    const held = this.#turns.takeFree(tenant) ?? (this.waits.isNeeded ? this.#turns.take(tenant) : undefined)
    const turn: Turn = { tenant, held }
    try {
      const connection = await this.connect(signal, turn)
      connection.turn = turn
      this.#use.used++
      return connection
    } catch (error) {
      turn.leave?.()
      if (turn.held !== undefined) this.#turns.leave(tenant, turn.held)
      if (signal?.aborted === true) this.writes.waited(signal, this.waits.state)
      else if (error instanceof Unavailable && !(error instanceof ConnectionsHeld)) this.writes.unreachable()
      throw error
    } finally {
      this.#use.waiting--
    }
  }

  /** Runs a read on a connection of the pool. */
  protected async reading<T>(read: (connection: C) => Promise<T>, options?: RunOptions): Promise<T> {
    const connection = await this.#taken(options)
    try {
      return await read(connection)
    } finally {
      this.#release(connection)
    }
  }

  /** Gets a connection from the driver's pool when it is the call's turn. */
  protected checkout<D extends { release(): void }>(
    connect: Connect<D>,
    signal: CallEnd | undefined,
    turn: Turn,
  ): Promise<D> {
    const inTurn: Connect<D> = (done) => {
      turn.leave = this.#turns.wait(turn.tenant, (held) => {
        turn.held = held
        try {
          connect(done)
        } catch (error) {
          // Fail this call, not the call that has just returned the connection.
          done(error as Error, undefined)
        }
      })
    }
    return checkout(turn.held === undefined ? inTurn : connect, signal, this.waits)
  }

  #release(connection: C): void {
    const { turn } = connection
    connection.release()
    this.#left(turn)
  }

  #left(turn: Turn | undefined): void {
    this.#use.used--
    if (turn?.held !== undefined) this.#turns.leave(turn.tenant, turn.held)
  }

  abstract borrow(runner: QueryRunner): Promise<Lease>

  /** Takes a connection from the pool with `checkout`, and sets up its session on first use. */
  protected abstract connect(signal: CallEnd | undefined, turn: Turn): Promise<C>
}

/** Returns true if the server responded without executing the statement. */
const isResponse = (error: Unavailable): boolean =>
  error instanceof NotPrepared || error.message === LACKS_RESOURCES || error.message === REFUSES_CONNECTIONS

/**
 * Returns true if the write may have been saved. Outside a transaction, a write takes effect before its
 * result arrives.
 */
const mayBeSaved = (error: unknown, { text }: Statement): error is Unavailable =>
  error instanceof Unavailable &&
  !(error instanceof UnknownOutcome) &&
  !isResponse(error) &&
  error.message !== TAKES_NO_WRITES &&
  !/^\s*SELECT\b/i.test(text)

/** The default pool size of both drivers. */
const CONNECTIONS = 10

/**
 * Returns the size of a DataSource's connection pool.
 *
 * @param option - the driver's name for the pool size, which takes precedence over TypeORM's `poolSize`.
 */
export function poolSizeOf({ options }: DataSource, option: string): number {
  const { poolSize, extra } = options as { poolSize?: number; extra?: Readonly<Record<string, unknown>> }
  const asked = extra?.[option] ?? poolSize
  return typeof asked === 'number' && asked > 0 ? asked : CONNECTIONS
}
