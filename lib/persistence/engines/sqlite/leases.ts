import type { CallEnd } from '../../../call-end.js'
import { cancellable } from '../executor/cancellable.js'
import { cancellation } from '../errors/cancellation.js'
import { Turns } from '../executor/turns.js'
import type { SqliteConnection, SqliteOutcome } from './connection.js'
import { sqliteValues, type SqliteValue } from './values.js'

type Shape = 'array' | 'object'

/**
 * SQLite runs one statement at a time; more would only block threads of Node's pool that files and DNS need.
 */
const ABREAST = 2

const CONTROL = /^(?:\s|--[^\n]*\n|\/\*[^]*?\*\/)*(?:BEGIN|COMMIT|END|ROLLBACK|SAVEPOINT|RELEASE)\b/i

/**
 * Shares one SQLite connection between single statements and transactions, so that neither runs inside the
 * other.
 */
export class SqliteLeases {
  readonly #turns: Turns

  /** @param timeoutMs - how long a statement or a transaction waits while no turn before it ends. */
  constructor(
    readonly connection: SqliteConnection,
    timeoutMs: number,
  ) {
    this.#turns = new Turns(timeoutMs, ABREAST)
  }

  /**
   * Runs one statement in its own transaction. Uses plain promises, because every read of a service comes
   * through here.
   */
  run(text: string, values: readonly unknown[], shape: Shape, signal?: CallEnd): Promise<SqliteOutcome> {
    try {
      if (CONTROL.test(text)) {
        throw new TypeError('on SQLite a transaction is started with transaction(), not with SQL')
      }
      if (signal?.aborted === true) throw cancellation(signal)
      const bound = sqliteValues(values)
      const turn = this.#turns.enter(false, signal)
      return turn === undefined
        ? this.#send(text, bound, shape)
        : turn.then(() => this.#send(text, bound, shape))
    } catch (error) {
      return Promise.reject(error as Error)
    }
  }

  /** Closes the file after the current transaction; later callers are refused. */
  async close(): Promise<void> {
    await this.lease().catch(() => {})
    this.#turns.close()
    await this.connection.close()
  }

  /** Waits until the connection is free, and reserves it. */
  async lease(signal?: CallEnd): Promise<SqliteLease> {
    if (signal?.aborted === true) throw cancellation(signal)
    const turn = this.#turns.enter(true, signal)
    if (turn !== undefined) await turn
    return new SqliteLease(this.connection, this.#turns.leave)
  }

  #send(text: string, bound: readonly SqliteValue[], shape: Shape): Promise<SqliteOutcome> {
    const running = this.connection.run(text, bound, shape)
    running.then(this.#turns.leave, this.#turns.leave)
    return running
  }
}

/** The connection, reserved for one caller. Its statements run in the order in which they were sent. */
export class SqliteLease {
  #last: Promise<unknown> = Promise.resolve()
  #leave: (() => void) | undefined
  #isReadOnly = false

  constructor(
    private readonly connection: SqliteConnection,
    leave: () => void,
  ) {
    this.#leave = leave
  }

  run(text: string, values: readonly unknown[], shape: Shape, signal?: CallEnd): Promise<SqliteOutcome> {
    const outcome = this.#last.then(() => this.#send(text, values, shape, signal))
    this.#last = outcome.catch(() => {})
    return outcome
  }

  /** True if the connection refuses writes for this caller. */
  get isReadOnly(): boolean {
    return this.#isReadOnly
  }

  /** Makes the connection refuse writes until it is free again. @param text - the PRAGMA that does. */
  refuseWrites(text: string): Promise<void> {
    this.#isReadOnly = true
    const outcome = this.#last.then(() => this.connection.setting(text))
    this.#last = outcome.catch(() => {})
    return outcome
  }

  /**
   * Frees the connection after the statements that were sent. Rolls back first, unless no transaction is open
   * (`isClean`).
   */
  async release(isClean = false): Promise<void> {
    const leave = this.#leave
    this.#leave = undefined
    if (leave === undefined) return
    await this.#last
    try {
      if (!isClean) await this.connection.run('ROLLBACK', [], 'array')
    } catch {
      // No transaction was open, which is normal.
    }
    try {
      if (this.#isReadOnly) await this.connection.setting('PRAGMA query_only = OFF')
    } finally {
      leave()
    }
  }

  async #send(
    text: string,
    values: readonly unknown[],
    shape: Shape,
    signal?: CallEnd,
  ): Promise<SqliteOutcome> {
    if (this.#leave === undefined) throw new TypeError('the connection was already released')
    if (signal?.aborted === true) throw cancellation(signal)
    const bound = sqliteValues(values)
    // A statement that had not begun when it was interrupted still runs, so it is interrupted again after a
    // while.
    const interrupt = () => this.connection.interrupt()
    return cancellable(this.connection.run(text, bound, shape), signal, {
      cancel: () => Promise.resolve(interrupt()),
      destroy: interrupt,
    })
  }
}
