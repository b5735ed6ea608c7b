import { EventEmitter } from 'node:events'
import { loginOf } from './dsn.js'
import type { HotDriver, HotDriverOptions } from './hot-driver.js'
import { type Handed, HotPool, type Sessions } from './hot-pool.js'

/** What is used of `pg`. */
interface Module {
  readonly Pool: new (options: object) => PgPool
  readonly Client: new (options: object) => Client
  readonly defaults?: object
}

interface Client {
  query(text: string): Promise<unknown>
  release(broken?: boolean): void
}

interface PgPool extends EventEmitter {
  readonly idleCount: number
  readonly waitingCount: number
  connect(done: Handed<Client>): void
  end(done: () => void): void
}

/** What is read of TypeORM's options for `new Pool()`. */
interface PoolOptions {
  readonly max?: number
  readonly connectionTimeoutMillis?: number
}

/** How long a session may take to open; `pg` alone waits as long as the system does, which may be minutes. */
const CONNECT_TIMEOUT_MS = 10_000

/** The password is wrong, or the role may not log in: invalid_password, invalid_authorization_specification. */
const LOGIN_REFUSED = new Set<unknown>(['28P01', '28000'])

/** Stands for the `pg` module in TypeORM's `driver` option. */
export function hotPostgres(options: HotDriverOptions): HotDriver {
  let made: HotPool<Client> | undefined
  const pg = () => options.module() as Module

  /** What TypeORM takes for a pool of `pg`. */
  class Pool extends EventEmitter {
    readonly #hot: HotPool<Client>

    constructor(poolOptions: PoolOptions) {
      super()
      const emit = (event: string, values: readonly unknown[]) => this.emit(event, ...values)
      made = this.#hot = new HotPool(options.dsn(), {
        ...options,
        open: (dsn, changed) => new PostgresSessions(pg(), configured(poolOptions, dsn), emit, changed),
        max: poolOptions.max ?? 10,
        queueLimit: Number.POSITIVE_INFINITY,
        waitMs: poolOptions.connectionTimeoutMillis ?? 0,
        isLoginRefused: (error) => 'code' in error && LOGIN_REFUSED.has(error.code),
      })
    }

    get totalCount(): number {
      return this.#hot.size
    }

    get waitingCount(): number {
      return this.#hot.waiting
    }

    connect(done: (error: unknown, client?: Client, release?: Client['release']) => void): void {
      this.#hot.acquire((error, client) => {
        if (client === undefined) done(error)
        else done(undefined, client, (destroy) => client.release(destroy))
      })
    }

    end(done: (error?: Error) => void): void {
      this.#hot.end().then(() => done(), done)
    }
  }

  const configured = (poolOptions: PoolOptions, dsn: string): object => ({
    ...poolOptions,
    connectionString: dsn,
    connectionTimeoutMillis: poolOptions.connectionTimeoutMillis ?? CONNECT_TIMEOUT_MS,
    ...(options.password === undefined ? {} : { Client: askingClient(pg(), dsn, options.password) }),
  })

  const module = {
    Pool,
    get defaults() {
      return pg().defaults
    },
  }
  return { module, pool: () => made }
}

/** A password function among the options would be overridden by the connection string, which has none. */
function askingClient(
  pg: Module,
  dsn: string,
  ask: NonNullable<HotDriverOptions['password']>,
): Module['Client'] {
  return class extends pg.Client {
    constructor(config: object) {
      super(config)
      const password = () => ask(loginOf(dsn))
      Object.defineProperty(this, 'password', { value: password, writable: true, configurable: true })
    }
  }
}

class PostgresSessions implements Sessions<Client> {
  readonly #pool: PgPool
  readonly #open = new Set<unknown>()
  #opening = 0
  /** Callers that `pg` hands an idle session in the next turn. */
  #claimed = 0

  constructor(
    pg: Module,
    config: object,
    emit: (event: string, values: readonly unknown[]) => void,
    private readonly changed: () => void,
  ) {
    this.#pool = new pg.Pool(config)
    this.#pool.on('connect', (client) => this.#open.add(client))
    this.#pool.on('remove', (client) => this.#open.delete(client))
    for (const event of ['connect', 'acquire', 'release', 'remove', 'error'])
      this.#pool.on(event, (...values: unknown[]) => emit(event, values))
    // `pg` tells before it has taken the session back.
    for (const event of ['release', 'remove']) this.#pool.on(event, () => queueMicrotask(this.changed))
  }

  get size(): number {
    return this.#open.size + this.#opening
  }

  get idle(): number {
    return Math.max(0, this.#pool.idleCount - this.#claimed)
  }

  connect(done: Handed<Client>): void {
    const isClaim = this.idle > 0
    if (isClaim) this.#claimed++
    else this.#opening++
    this.#pool.connect((error, client) => {
      if (isClaim) this.#claimed--
      else this.#opening--
      done(error, client)
    })
  }

  giveBack(client: Client): void {
    client.release()
  }

  probe(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.connect((error, client) => {
        if (client === undefined) return reject(error ?? new TypeError('pg answered nothing'))
        client.query('SELECT 1').then(
          () => {
            client.release()
            resolve()
          },
          (failure: unknown) => {
            client.release(true)
            reject(failure as Error)
          },
        )
      })
    })
  }

  /** `pg` closes what comes back to a pool that ends, and forgets its line: nobody may stand in it. */
  retire(): void {
    if (this.#pool.waitingCount > 0) setImmediate(() => this.retire())
    else this.#pool.end(this.changed)
  }
}
