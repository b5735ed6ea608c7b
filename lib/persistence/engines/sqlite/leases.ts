import type { CallEnd } from '../../../call-end.js'
import type { RequestContext } from '../../../context.js'
import { cancellable } from '../executor/cancellable.js'
import { cancellation } from '../errors/cancellation.js'
import { Turns } from '../executor/turns.js'
import type { SqliteConnection, SqliteOutcome } from './connection.js'
import { sqliteValues, type SqliteValue } from './values.js'

type Shape = 'array' | 'object'

/**
 * The number of statements that are sent concurrently. SQLite runs one at a time; more would block threads of
 * Node's pool that file and DNS operations need.
 */
const ABREAST = 2

const CONTROL = /^(?:\s|--[^\n]*\n|\/\*[^]*?\*\/)*(?:BEGIN|COMMIT|END|ROLLBACK|SAVEPOINT|RELEASE)\b/i

/**
 * Shares one SQLite connection between single statements and transactions, so that neither runs inside the
 * other.
 */
export class SqliteLeases {
  readonly #turns: Turns

  /**
   * @param timeoutMs - the maximum wait in milliseconds while no earlier statement or transaction ends.
   */
  constructor(
    readonly connection: SqliteConnection,
    timeoutMs: number,
  ) {
    this.#turns = new Turns(timeoutMs, ABREAST)
  }

  /**
   * Runs one statement in its own transaction. It uses plain promises for speed, because every read of a
   * service runs through it.
   */
  run(
    text: string,
    values: readonly unknown[],
    shape: Shape,
    signal?: CallEnd,
    context?: RequestContext,
  ): Promise<SqliteOutcome> {
    try {
      if (CONTROL.test(text)) {
        throw new TypeError('on SQLite a transaction is started with transaction(), not with SQL')
      }
      if (signal?.aborted === true) throw cancellation(signal)
      const bound = sqliteValues(values)
      const turn = this.#turns.enter(false, signal, context)
      return turn === undefined
        ? this.#send(text, bound, shape)
        : turn.then(() => this.#send(text, bound, shape))
    } catch (error) {
      return Promise.reject(error as Error)
    }
  }

  /** Closes the file after the current transaction. Later callers are rejected. */
  async close(): Promise<void> {
    await this.#turns.close()
    await this.connection.close()
  }

  /** Waits until the connection is free, and reserves it. */
  async lease(signal?: CallEnd, context?: RequestContext): Promise<SqliteLease> {
    if (signal?.aborted === true) throw cancellation(signal)
    const turn = this.#turns.enter(true, signal, context)
    if (turn !== undefined) await turn
    return new SqliteLease(this.connection, this.#turns.leave)
  }

  #send(text: string, bound: readonly SqliteValue[], shape: Shape): Promise<SqliteOutcome> {
    const running = this.connection.run(text, bound, shape)
    running.then(this.#turns.leave, this.#turns.leave)
    return running
  }
}

/** The connection while it is reserved for one caller. Statements run in the order in which they are sent. */
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

  /** True if the connection rejects writes for this caller. */
  get isReadOnly(): boolean {
    return this.#isReadOnly
  }

  /**
   * Makes the connection reject writes until it is released.
   *
   * @param text - the PRAGMA.
   */
  refuseWrites(text: string): Promise<void> {
    this.#isReadOnly = true
    const outcome = this.#last.then(() => this.connection.setting(text))
    this.#last = outcome.catch(() => {})
    return outcome
  }

  /**
   * Releases the connection after the statements that were sent. Rolls back first unless `isClean` states
   * that no transaction is open.
   */
  async release(isClean = false): Promise<void> {
    const leave = this.#leave
    this.#leave = undefined
    if (leave === undefined) return
    await this.#last
    try {
      if (!isClean) await this.connection.run('ROLLBACK', [], 'array')
    } catch {
      // It is normal that no transaction is open.
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
    // Interrupt repeatedly, because a statement that had not yet begun is not affected.
    const interrupt = () => this.connection.interrupt()
    return cancellable(this.connection.run(text, bound, shape), signal, {
      cancel: () => Promise.resolve(interrupt()),
      destroy: interrupt,
    })
  }
}
