import type { EventEmitter } from 'node:events'
import { loginOf } from './dsn.js'
import type { HotDriver, HotDriverOptions } from './hot-driver.js'
import { type Handed, HotPool, type Sessions } from './hot-pool.js'

/** What is used of `mysql2`. */
interface Module {
  createPool(options: object): MysqlPool
  readonly Connection: unknown
  readonly TypedParameter: unknown
}

interface Connection extends EventEmitter {
  readonly stream: EventEmitter
  query(text: string, done: (error: Error | null) => void): void
  release(): void
  destroy(): void
  end(): void
}

interface MysqlPool extends EventEmitter {
  readonly config: { readonly connectionConfig: { password?: string } }
  getConnection(done: Handed<Connection>): void
  end(done: () => void): void
}

/** What is read of TypeORM's options for `createPool()`. */
interface PoolOptions {
  readonly connectionLimit?: number
  readonly queueLimit?: number
  readonly waitForConnections?: boolean
}

/** The password is wrong, or the user is gone or may not log in: ER_ACCESS_DENIED_ERROR and two of its kin. */
const LOGIN_REFUSED = new Set<unknown>([1045, 1698, 4151])

/** Stands for the `mysql2` module in TypeORM's `driver` option. */
export function hotMysql(options: HotDriverOptions): HotDriver {
  let made: HotPool<Connection> | undefined
  const mysql = () => options.module() as Module

  const createPool = (poolOptions: PoolOptions) => {
    const open = (dsn: string, changed: () => void) =>
      new MysqlSessions(mysql().createPool(configured(poolOptions, dsn)), dsn, options.password, changed)
    const hot = new HotPool<Connection>(options.dsn(), {
      ...options,
      open,
      max: poolOptions.connectionLimit ?? 10,
      queueLimit:
        poolOptions.waitForConnections === false ? 0 : poolOptions.queueLimit || Number.POSITIVE_INFINITY,
      waitMs: 0,
      isLoginRefused: (error) => 'errno' in error && LOGIN_REFUSED.has(error.errno),
    })
    made = hot
    return {
      getConnection: (done: Handed<Connection>) =>
        hot.acquire((error, session) => done(error ?? null, session)),
      end: (done: (error?: Error) => void) => void hot.end().then(() => done(), done),
      /** The one that a statement is to be ended with. */
      get config() {
        return (hot.current as MysqlSessions).pool.config
      },
    }
  }
  const module = {
    createPool,
    get Connection() {
      return mysql().Connection
    },
    get TypedParameter() {
      return mysql().TypedParameter
    },
  }
  return { module, pool: () => made }
}

/** Options go before those of the URL in `mysql2`, and TypeORM sets these to undefined. `gracefulEnd` says goodbye to the server. */
function configured(poolOptions: PoolOptions, dsn: string): object {
  const uri = dsn.replace(/^mariadb:/i, 'mysql:')
  return { ...poolOptions, uri, queueLimit: 0, waitForConnections: true, gracefulEnd: true }
}

class MysqlSessions implements Sessions<Connection> {
  readonly #open = new Set<Connection>()
  readonly #out = new Set<Connection>()
  #opening = 0
  #isRetired = false

  constructor(
    readonly pool: MysqlPool,
    private readonly dsn: string,
    private readonly password: HotDriverOptions['password'],
    private readonly changed: () => void,
  ) {
    pool.on('connection', (connection: Connection) => this.#opened(connection))
    pool.on('acquire', (connection: Connection) => this.#out.add(connection))
    pool.on('release', (connection: Connection) => this.#cameBack(connection))
  }

  get size(): number {
    return this.#open.size + this.#opening
  }

  get idle(): number {
    return this.#open.size - this.#out.size
  }

  connect(done: Handed<Connection>): void {
    if (this.idle > 0) return this.pool.getConnection(done)
    this.#opening++
    const opened: Handed<Connection> = (error, connection) => {
      this.#opening--
      done(error, connection)
    }
    this.#ask().then(
      () => this.pool.getConnection(opened),
      (error: Error) => opened(error, undefined),
    )
  }

  giveBack(connection: Connection): void {
    connection.release()
  }

  probe(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.connect((error, connection) => {
        if (connection === undefined) return reject(error ?? new TypeError('mysql2 answered nothing'))
        connection.query('SELECT 1', (failure) => {
          if (failure === null) connection.release()
          else connection.destroy()
          if (failure === null) resolve()
          else reject(failure)
        })
      })
    })
  }

  /** `end()` of a pool would close what is in use as well. */
  retire(): void {
    this.#isRetired = true
    for (const connection of this.#open) if (!this.#out.has(connection)) this.#close(connection)
    this.#finish()
  }

  #opened(connection: Connection): void {
    this.#open.add(connection)
    connection.stream.once('close', () => {
      this.#open.delete(connection)
      this.#out.delete(connection)
      this.#finish()
      this.changed()
    })
  }

  #cameBack(connection: Connection): void {
    if (this.#isRetired) this.#close(connection)
    else this.#out.delete(connection)
    this.changed()
  }

  /** It counts as in use until the server has closed it. */
  #close(connection: Connection): void {
    this.#out.add(connection)
    connection.end()
  }

  /** Stops the timers of the pool. */
  #finish(): void {
    if (this.#isRetired && this.size === 0) this.pool.end(() => {})
  }

  /** `mysql2` copies the password from here for every connection that it opens. */
  async #ask(): Promise<void> {
    if (this.password === undefined) return
    this.pool.config.connectionConfig.password = await this.password(loginOf(this.dsn))
  }
}
