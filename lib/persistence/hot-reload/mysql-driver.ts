import type { EventEmitter } from 'node:events'
import { CONNECT_MS } from '../engines/executor/connection-waits.js'
import { type HotDriver, type HotDriverOptions, type HotEngine, refuseOptions } from './driver.js'
import type { Handed } from './wait-queue.js'
import { MYSQL_TYPES } from '../engines/dsn/dsn-engines.js'
import { HotPool } from './pool.js'
import type { Connection, ConnectionListener } from './reloaded-session.js'

/** The part of `mysql2` that Ashlar uses. */
interface Module {
  createConnection(options: object): Client
  readonly Connection: unknown
  readonly TypedParameter: unknown
}

interface Client extends EventEmitter {
  readonly config: object
  readonly stream: EventEmitter & { destroy(): void }
  connect(done: (error: Error | null) => void): void
  query(text: string, done: (error: Error | null) => void): void
  end(): void
  destroy(): void
  /** Releases the connection, as on a pool's connection. Set by this module. */
  release?: () => void
}

/** The options of `createPool()` that are read. */
interface PoolOptions {
  readonly connectionLimit?: number
  readonly connectTimeout?: number
  readonly idleTimeout?: number
  readonly maxIdle?: number
  readonly queueLimit?: number
  readonly waitForConnections?: boolean
}

/** Options of `mysql2`'s own pool, which is not used. */
const NOT_OURS = ['resetOnRelease']

/**
 * The errors of a rejected login: wrong password, or the user does not exist, is locked or expired, has no
 * access to the database, or may not connect from this host. A locked account has error 3118 on MySQL and
 * 4151 on MariaDB.
 */
const LOGIN_REFUSED = new Set<unknown>([1044, 1045, 1130, 1698, 1862, 3118, 4151])

/** The engine of MySQL and MariaDB. */
export const hotMysql: HotEngine = {
  driver: 'mysql',
  packageName: 'mysql2',
  types: MYSQL_TYPES,
  open,
}

/** Returns the replacement for the `mysql2` module in TypeORM's `driver` option. */
function open(options: HotDriverOptions): HotDriver {
  let made: HotPool<Client> | undefined
  const mysql = () => options.module() as Module

  const createPool = (poolOptions: PoolOptions) => {
    refuseOptions(poolOptions, NOT_OURS)
    const { connectionLimit, connectTimeout, idleTimeout, maxIdle, queueLimit, waitForConnections } =
      poolOptions
    const max = connectionLimit || 10
    let last: Client | undefined
    const hot = new HotPool<Client>(options.dsn(), {
      ...options,
      connect: (dsn, listener) => {
        const client = mysql().createConnection(configured(poolOptions, dsn))
        return connected(client, listener, () => (last = client))
      },
      max,
      queueLimit: waitForConnections === false ? 0 : queueLimit || Number.POSITIVE_INFINITY,
      waitMs: 0,
      connectMs: connectTimeout || CONNECT_MS,
      idleMs: idleTimeout ?? 60_000,
      keptIdle: maxIdle ?? max,
      maxAgeMs: 0,
      isLoginRefused: (error) => 'errno' in error && LOGIN_REFUSED.has(error.errno),
      onLost: () => {},
    })
    made = hot
    return {
      getConnection: (done: (error: Error | null, client: Client | undefined) => void) => {
        const handed: Handed<Client> = (error, client) => done(error ?? null, client)
        hot.acquire(handed)
      },
      end: (done: (error?: Error) => void) => void hot.end().then(() => done(), done),
      /** The latest login, for the connection that kills a statement. It has the best chance of working. */
      get config() {
        return { connectionConfig: last?.config ?? {} }
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

/**
 * Returns the options of a connection. In `mysql2`, options take precedence over the URL, and TypeORM sets
 * these to undefined.
 */
const configured = (poolOptions: PoolOptions, dsn: string): object => ({
  ...poolOptions,
  uri: dsn.replace(/^mariadb:/i, 'mysql:'),
})

function connected(client: Client, listener: ConnectionListener, tell: () => void): Connection<Client> {
  const { stream } = client
  client.release = () => listener.giveBack()
  client.destroy = () => {
    listener.broken()
    listener.giveBack()
  }
  client.on('error', (error: Error) => listener.broken(error))
  client.on('end', () => listener.broken())
  // Listen on the socket itself, because TLS would replace the stream.
  stream.once('close', () => {
    listener.broken()
    listener.closed()
  })
  const asked = (ask: (done: (error: Error | null) => void) => void) =>
    new Promise<void>((resolve, reject) => ask((error) => (error === null ? resolve() : reject(error))))
  return {
    client,
    opened: asked((done) => client.connect(done)).then(tell),
    ask: () => asked((done) => client.query('SELECT 1', done)),
    close: () => client.end(),
    cut: () => client.stream.destroy(),
  }
}
