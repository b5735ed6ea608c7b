import { EventEmitter } from 'node:events'
import { CONNECT_MS } from '../engines/executor/connection-waits.js'
import { type HotDriver, type HotDriverOptions, type HotEngine, refuseOptions } from './driver.js'
import { HotPool } from './pool.js'
import type { Connection, ConnectionListener } from './reloaded-session.js'

/** The part of `pg` that Ashlar uses. */
interface Module {
  readonly Client: new (options: object) => Client
  readonly defaults?: object
}

interface Client extends EventEmitter {
  readonly connection: { readonly stream: { destroy(): void } }
  connect(): Promise<unknown>
  query(text: string): Promise<unknown>
  end(done: () => void): void
  /** Releases the connection, as on a client of `pg`'s pool. Set by this module. */
  release?: (isBroken?: unknown) => void
}

/** The options of `new Pool()` that are read. */
interface PoolOptions {
  readonly max?: number
  readonly min?: number
  readonly connectionTimeoutMillis?: number
  readonly idleTimeoutMillis?: number
  readonly maxLifetimeSeconds?: number
}

type Checkout = (error: Error | undefined, client: Client | undefined, release: (e?: unknown) => void) => void

/** Options of `pg`'s own pool, which is not used. */
const NOT_OURS = ['maxUses', 'allowExitOnIdle', 'onConnect', 'verify', 'Client']

/** The errors of a rejected login: wrong password, or the role may not log in or use the database. */
const LOGIN_REFUSED = new Set<unknown>(['28P01', '28000', '42501'])

export const hotPostgres: HotEngine = {
  driver: 'postgres',
  packageName: 'pg',
  types: ['postgres'],
  open,
}

/** Returns the replacement for the `pg` module in TypeORM's `driver` option. */
function open(options: HotDriverOptions): HotDriver {
  let made: HotPool<Client> | undefined
  const pg = () => options.module() as Module

  /** Replaces the pool of `pg` that TypeORM would use. */
  class Pool extends EventEmitter {
    readonly #hot: HotPool<Client>

    constructor(poolOptions: PoolOptions) {
      super()
      refuseOptions(poolOptions, NOT_OURS)
      const { max, min, connectionTimeoutMillis, idleTimeoutMillis, maxLifetimeSeconds } = poolOptions
      made = this.#hot = new HotPool(options.dsn(), {
        ...options,
        connect: (dsn, listener) => {
          const client = new (pg().Client)({ ...poolOptions, connectionString: dsn })
          return connected(client, listener, () => this.emit('connect', client))
        },
        max: max || 10,
        queueLimit: Number.POSITIVE_INFINITY,
        waitMs: connectionTimeoutMillis ?? 0,
        connectMs: connectionTimeoutMillis || CONNECT_MS,
        idleMs: idleTimeoutMillis ?? 10_000,
        keptIdle: min ?? 0,
        maxAgeMs: (maxLifetimeSeconds ?? 0) * 1000,
        isLoginRefused: (error) => 'code' in error && LOGIN_REFUSED.has(error.code),
        onLost: (error, client) => this.emit('error', error, client),
      })
    }

    get totalCount(): number {
      return this.#hot.size
    }

    get idleCount(): number {
      return this.#hot.idle
    }

    get waitingCount(): number {
      return this.#hot.waiting
    }

    connect(done: Checkout): void {
      this.#hot.acquire((error, client) => done(error, client, client?.release ?? (() => {})))
    }

    end(done: (error?: Error) => void): void {
      this.#hot.end().then(() => done(), done)
    }
  }

  const module = {
    Pool,
    get defaults() {
      return pg().defaults
    },
  }
  return { module, pool: () => made }
}

function connected(client: Client, listener: ConnectionListener, tell: () => void): Connection<Client> {
  client.release = (isBroken) => listener.giveBack(Boolean(isBroken))
  client.on('error', (error: Error) => listener.broken(error))
  client.once('end', () => {
    listener.broken()
    listener.closed()
  })
  return {
    client,
    opened: client.connect().then(tell),
    ask: () => client.query('SELECT 1'),
    close: () => client.end(() => {}),
    cut: () => client.connection.stream.destroy(),
  }
}
