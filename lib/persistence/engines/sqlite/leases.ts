import { cancellable } from '../executor/cancellable.js'
import { cancellation } from '../errors/cancellation.js'
import { Turns } from '../executor/turns.js'
import type { SqliteConnection, SqliteOutcome } from './connection.js'
import { sqliteValues, type SqliteValue } from './values.js'

type Shape = 'array' | 'object'

/** More only blocks threads of Node's pool, which file and DNS calls need too: SQLite runs one at a time anyway. */
const ABREAST = 2

const CONTROL = /^(?:\s|--[^\n]*\n|\/\*[^]*?\*\/)*(?:BEGIN|COMMIT|END|ROLLBACK|SAVEPOINT|RELEASE)\b/i

/** Shares one SQLite connection between single statements and transactions, so that neither is inside of the other. */
export class SqliteLeases {
  readonly #turns: Turns

  /** @param timeoutMs - how long a statement or a transaction waits for its turn. */
  constructor(
    readonly connection: SqliteConnection,
    timeoutMs: number,
  ) {
    this.#turns = new Turns(timeoutMs, ABREAST)
  }

  /** Runs one statement in a transaction of its own. Plain promises, because every read of a service comes by here. */
  run(text: string, values: readonly unknown[], shape: Shape, signal?: AbortSignal): Promise<SqliteOutcome> {
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

  /** Closes the file when the transaction that has the connection is through; whoever comes later is refused. */
  async close(): Promise<void> {
    await this.lease().catch(() => {})
    this.#turns.close()
    await this.connection.close()
  }

  /** Waits until nobody uses the connection, and keeps everybody else off it. */
  async lease(signal?: AbortSignal): Promise<SqliteLease> {
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

/** The connection, for one caller alone. Its statements run in the order in which they were sent. */
export class SqliteLease {
  #last: Promise<unknown> = Promise.resolve()
  #leave: (() => void) | undefined

  constructor(
    private readonly connection: SqliteConnection,
    leave: () => void,
  ) {
    this.#leave = leave
  }

  run(text: string, values: readonly unknown[], shape: Shape, signal?: AbortSignal): Promise<SqliteOutcome> {
    const outcome = this.#last.then(() => this.#send(text, values, shape, signal))
    this.#last = outcome.catch(() => {})
    return outcome
  }

  /**
   * Lets the next one in, once the statements that were sent are through. Rolls back first, unless the caller knows
   * that no transaction is open (`isClean`).
   */
  async release(isClean = false): Promise<void> {
    const leave = this.#leave
    this.#leave = undefined
    if (leave === undefined) return
    await this.#last
    try {
      if (!isClean) await this.connection.run('ROLLBACK', [], 'array')
    } catch {
      // No transaction was open, which is how it should be.
    }
    leave()
  }

  async #send(
    text: string,
    values: readonly unknown[],
    shape: Shape,
    signal?: AbortSignal,
  ): Promise<SqliteOutcome> {
    if (this.#leave === undefined) throw new TypeError('the connection was handed back already')
    if (signal?.aborted === true) throw cancellation(signal)
    const bound = sqliteValues(values)
    // One that had not begun when it was interrupted goes on, so it is interrupted again after a while.
    const interrupt = () => this.connection.interrupt()
    return cancellable(this.connection.run(text, bound, shape), signal, {
      cancel: () => Promise.resolve(interrupt()),
      destroy: interrupt,
    })
  }
}
