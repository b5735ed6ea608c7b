import type { DataSource } from 'typeorm'
import { executorOf } from '../../../lib/persistence/engines/executor-of.js'
import type { Executor, Lease } from '../../../lib/persistence/engines/executor/executor.js'
import { column, run } from './statement.js'

/** The maximum number of times the server is queried for a lost connection, 5 ms apart. */
const MAX_LOOKS = 1000

/** The result of a run whose connection was to be killed. */
export interface Killing<T> {
  /** The number of sent statements, including transaction control. */
  readonly sent: number
  /** The id of the killed connection. Undefined if the run had no such statement. */
  readonly killed: string | undefined
  readonly outcome: PromiseSettledResult<T>
}

/** The method that takes a connection from the pool, for single statements and transactions. */
interface Connecting {
  connect(signal: AbortSignal | undefined, turn: unknown): Promise<Lease>
}

/** Kills connections of a database, and checks for remaining ones. */
export class ConnectionKiller {
  readonly #isPostgres: boolean

  constructor(private readonly dataSource: DataSource) {
    this.#isPostgres = executorOf(dataSource).dialect.name === 'postgres'
  }

  /** Returns the id of the connection of a lease or transaction. */
  async idOf(on: Executor): Promise<string> {
    return this.#only(on, this.#isPostgres ? 'SELECT pg_backend_pid()' : 'SELECT CONNECTION_ID()')
  }

  /** Kills a connection. Resolves when the server no longer has it. */
  async kill(id: string): Promise<void> {
    const on = executorOf(this.dataSource)
    await run(on, this.#isPostgres ? `SELECT pg_terminate_backend(${id})` : `KILL ${id}`)
    const alive = this.#isPostgres
      ? `SELECT count(*) FROM pg_stat_activity WHERE pid = ${id}`
      : `SELECT COUNT(*) FROM information_schema.processlist WHERE id = ${id}`
    await this.#until(() => this.#only(on, alive))
  }

  /** Resolves when no connection of this database has an open transaction. */
  async idle(): Promise<void> {
    const open = this.#isPostgres
      ? "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'"
      : 'SELECT COUNT(*) FROM information_schema.innodb_trx t JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id WHERE p.db = DATABASE()'
    await this.#until(() => this.#only(executorOf(this.dataSource), open))
  }

  /** Returns the ids of `count` connections that the pool hands out at the same time. */
  async handedOut(count: number): Promise<readonly string[]> {
    const on = executorOf(this.dataSource)
    const leases = await Promise.all(Array.from({ length: count }, () => on.lease()))
    try {
      return await Promise.all(leases.map((lease) => this.idOf(lease)))
    } finally {
      for (const lease of leases) lease.release()
    }
  }

  /**
   * Runs a function, and kills the connection of its transaction before one statement.
   *
   * @param position - the number of the statement, including those of TypeORM's manager. 0 kills nothing.
   */
  async killing<T>(position: number, fn: () => Promise<T>): Promise<Killing<T>> {
    const on = executorOf(this.dataSource)
    const { lease } = on
    let sent = 0
    let killed: string | undefined
    on.lease = async (options) => {
      const inner = await lease.call(on, options)
      const id = await this.idOf(inner)
      const after =
        <A extends unknown[], R>(send: (...args: A) => Promise<R>) =>
        async (...args: A): Promise<R> => {
          if (++sent === position) await this.kill((killed = id))
          return send(...args)
        }
      return {
        dialect: inner.dialect,
        run: after(inner.run.bind(inner)),
        control: after(inner.control.bind(inner)),
        queryRunner: () => inner.queryRunner(),
        sent: after(inner.sent.bind(inner)) as Lease['sent'],
        release: (how) => inner.release(how),
      }
    }
    try {
      const [outcome] = await Promise.allSettled([fn()])
      return { sent, killed, outcome }
    } finally {
      on.lease = lease
    }
  }

  /**
   * Runs a function. The first statement that matches the pattern is executed, but its answer is lost with
   * the connection.
   *
   * @param pattern - matches SQL or transaction control.
   */
  async losingTheAnswer<T>(pattern: RegExp, fn: () => Promise<T>): Promise<Killing<T>> {
    const on = executorOf(this.dataSource) as unknown as Connecting
    const { connect } = on
    let sent = 0
    let killed: string | undefined
    on.connect = async (...asked) => {
      const inner = await connect.apply(on, asked)
      const id = await this.idOf(inner)
      const run = inner.run.bind(inner)
      const control = inner.control.bind(inner)
      const lost = async (text: string) => {
        sent++
        if (killed !== undefined || !pattern.test(text)) return
        await this.kill((killed = id))
        await control('SELECT 1')
      }
      return Object.assign(inner, {
        run: async (...[statement, ...more]: Parameters<Lease['run']>) => {
          const result = await run(statement, ...more)
          await lost(statement.text)
          return result
        },
        control: async (text: string) => {
          await control(text)
          await lost(text)
        },
      })
    }
    try {
      const [outcome] = await Promise.allSettled([fn()])
      return { sent, killed, outcome }
    } finally {
      on.connect = connect
    }
  }

  async #until(count: () => Promise<string>): Promise<void> {
    for (let looks = 0; looks < MAX_LOOKS; looks++) {
      if ((await count()) === '0') return
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    throw new TypeError('the server still has the connection, or a transaction of one')
  }

  async #only(on: Executor, text: string): Promise<string> {
    return (await column(on, text))[0] as string
  }
}
