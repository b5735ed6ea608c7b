import { DataSource, type DataSourceOptions } from 'typeorm'
import type { MysqlDataSourceOptions } from 'typeorm/driver/mysql/MysqlDataSourceOptions.js'
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js'
import { checkDsn, type DsnFile, parseHotDsn, redactDsn, resolveDsn } from './dsn.js'
import { Unavailable } from '../../errors.js'
import { executorOf } from '../engines/executor-of.js'
import { askingFor, type HotDriver, type HotEngine, type PasswordCallback } from './driver.js'
import type { CoalesceOptions } from '../coalescing/coalesce.js'
import { hotMysql } from './mysql-driver.js'
import { hotPostgres } from './postgres-driver.js'
import { checkResources } from '../schema/resources-in.js'
import { HotReload, type Rejection, type Reload } from './reload-connection-string.js'

/** Options that Ashlar or the DSN determines. @inline */
type Managed =
  'type' | 'driver' | 'replication' | 'url' | 'host' | 'port' | 'username' | 'password' | 'database'
/** @inline */
type Own = Managed | 'nativeDriver' | 'socketPath'

/** The options of a HotDataSource that TypeORM does not have. */
export interface HotSettings extends CoalesceOptions {
  /** A DSN, or `fsnotify://postgres/etc/secrets/dsn` to read it from a file and follow the file's changes. */
  readonly dsn: string
  /** TypeORM's type for a `mysql` DSN. Default: `mysql`. */
  readonly type?: 'mysql' | 'mariadb'
  /** The module object of `pg` or `mysql2`, for a bundle or if the package cannot be found by name. */
  readonly module?: unknown
  /** Returns the password for each new session, such as an IAM token, instead of the DSN's password. */
  readonly password?: PasswordCallback
  /** The time in milliseconds that the file must be unchanged before it is read. Default: 100. */
  readonly debounceMs?: number
  /**
   * The interval in milliseconds at which the file is read even without a reported change. Default: 10,000.
   */
  readonly recheckMs?: number
  /**
   * The time in milliseconds that callers wait for a new DSN or password after the server rejected the login.
   * Default: 5,000; 0 means no wait.
   */
  readonly loginGraceMs?: number
  /**
   * Receives every change. Default: rejections become Node warnings, and other changes go to TypeORM's log.
   */
  readonly reloadLogger?: ReloadLogger
}

/** A logger. The server's logger is compatible. */
export interface ReloadLogger {
  /** Logs that the connection string has changed, or that the old one is no longer in use. */
  info(fields: object, message: string): void
  /** Logs that a new connection string was rejected. */
  warn(fields: object, message: string): void
}

/** TypeORM's options for PostgreSQL or MySQL, without those in the DSN. */
export type HotOptions = HotSettings &
  (Omit<PostgresDataSourceOptions, Own> | Omit<MysqlDataSourceOptions, Own>)

/** The events of a HotDataSource. They contain no passwords. */
export interface HotEvents {
  readonly reload: Reload
  readonly rejected: Rejection
  /** The last session of a replaced DSN is closed. Its database user can be dropped. */
  readonly drained: { readonly dsn: string }
}

/**
 * A TypeORM DataSource for PostgreSQL or MySQL that reads its DSN from a file and follows the file's changes,
 * without a restart or failed calls. A new DSN is tested before it is used. If it is invalid or the database
 * does not respond, the current DSN stays in use.
 *
 * @example
 * ```ts
 * import { HotDataSource } from 'ashlar'
 * import { Widget } from './widget.js'
 *
 * const dataSource = new HotDataSource({ dsn: 'fsnotify://postgres/etc/secrets/dsn', entities: [Widget] })
 * await dataSource.initialize()
 * ```
 */
export class HotDataSource extends DataSource {
  readonly #settings: HotSettings
  readonly #file: DsnFile | undefined
  readonly #engine: HotEngine
  readonly #driver: HotDriver
  readonly #listeners: { readonly [E in keyof HotEvents]: Set<(event: HotEvents[E]) => void> } = {
    reload: new Set(),
    rejected: new Set(),
    drained: new Set(),
  }
  readonly #start: { module: unknown; dsn: string }
  #reload: HotReload | undefined

  /**
   * @throws TypeError if the DSN is invalid or for SQLite, or if an option repeats a part of the DSN.
   */
  constructor(options: HotOptions) {
    const { dsn, type, module, password, debounceMs, recheckMs, loginGraceMs, reloadLogger, ...rest } =
      options
    refuseManaged(rest)
    const file = parseHotDsn(dsn)
    const driver = file?.driver ?? checkDsn(dsn).driver
    const engine = ENGINES.find((one) => one.driver === driver)
    if (engine === undefined)
      throw new TypeError(
        'HotDataSource does not support SQLite, which has no server connections: pass the result of resolveDsn() to SqliteDataSource',
      )
    const start = { module, dsn: '' }
    let self!: HotDataSource
    const hot = engine.open({
      module: () => start.module,
      dsn: () => start.dsn,
      withPassword: askingFor(password),
      // Do not wait for a login that cannot change.
      loginGraceMs: file === undefined && password === undefined ? 0 : (loginGraceMs ?? 5000),
      onLoginRefused: () => self.#readFile(),
      onDrained: (old) => self.#tell('drained', { dsn: redactDsn(old) }),
    })
    super({
      ...rest,
      type: engine.types.find((one) => one === type) ?? engine.types[0],
      driver: hot.module,
    } as DataSourceOptions)
    self = this
    this.#settings = options
    this.#file = file
    this.#engine = engine
    this.#driver = hot
    this.#start = start
  }

  /**
   * Loads the driver, reads the DSN and connects.
   *
   * @throws Unavailable if the DSN's file cannot be read.
   * @throws the driver's error if the database does not respond.
   */
  override async initialize(): Promise<this> {
    this.#start.module = unwrapped(this.#settings.module ?? (await load(this.#engine.packageName)))
    this.#start.dsn = (await resolveDsn(this.#settings.dsn)).dsn
    await super.initialize()
    if (this.#file === undefined) return this
    try {
      const reload = await this.#follow(this.#file)
      if (this.isInitialized) this.#reload = reload
      else await reload.close() // The DataSource was destroyed meanwhile.
    } catch (error) {
      if (this.isInitialized) await super.destroy()
      throw error
    }
    return this
  }

  /** Checks the resources first, because TypeORM's error for an invalid one is less specific. */
  protected override async buildMetadatas(): Promise<void> {
    checkResources({ ...this.options.entities })
    await super.buildMetadatas()
  }

  override async destroy(): Promise<void> {
    await this.#reload?.close()
    this.#reload = undefined
    const destroyed = super.destroy()
    executorOf(this).serveWaiting?.()
    await destroyed
  }

  /**
   * Returns the connection string for a new session, with its password. It is read from the current file and
   * the password callback. Use it for code that opens its own sessions, such as `schemaIsCurrent`.
   *
   * @throws Unavailable if the file cannot be read or the callback fails.
   */
  async connectionString(): Promise<string> {
    const { dsn, password } = this.#settings
    return askingFor(password)((await resolveDsn(dsn)).dsn)
  }

  /**
   * Calls `listener` for every event of this kind.
   *
   * @returns a function that removes the listener.
   */
  on<E extends keyof HotEvents>(event: E, listener: (event: HotEvents[E]) => void): () => void {
    this.#listeners[event].add(listener)
    return () => this.#listeners[event].delete(listener)
  }

  /**
   * Returns a readiness check. `/readyz` returns 503 while the file cannot be read, its content is rejected,
   * the server rejects the login, or the database is read-only after it rejected a write.
   */
  readinessCheck(name = 'dsn'): { readonly name: string; readonly check: () => Promise<void> } {
    return {
      name,
      check: async () => {
        await this.#reload?.check()
        if (this.#driver.pool()?.refusal !== undefined)
          throw new Unavailable('the database rejects the login of the current DSN')
        await executorOf(this).checkWrites()
      },
    }
  }

  #follow(file: DsnFile): Promise<HotReload> {
    const { debounceMs = 100, recheckMs = 10_000 } = this.#settings
    return HotReload.start(file, this.#start.dsn, {
      debounceMs,
      recheckMs,
      replace: async (dsn, signal) => {
        await this.#driver.pool()?.replace(dsn, signal)
        executorOf(this).serveWaiting?.()
      },
      onReload: (event) => this.#tell('reload', event),
      onRejected: (event) => this.#tell('rejected', event),
      onRestored: (dsn) => this.#log('info', { dsn }, 'the file contains the current DSN again'),
    })
  }

  #readFile(): void {
    void this.#reload?.read()
  }

  #tell<E extends keyof HotEvents>(event: E, reported: HotEvents[E]): void {
    this.#log(event === 'rejected' ? 'warn' : 'info', reported, MESSAGES[event])
    for (const listener of this.#listeners[event]) {
      try {
        listener(reported)
      } catch (error) {
        // The change is complete, so a listener's error is reported as uncaught.
        queueMicrotask(() => {
          throw error
        })
      }
    }
  }

  #log(level: 'info' | 'warn', fields: object, message: string): void {
    const { reloadLogger } = this.#settings
    if (reloadLogger !== undefined) return reloadLogger[level](fields, message)
    const text = `${message}: ${Object.values(fields).join(', previously ')}`
    if (level === 'warn') process.emitWarning(text, 'DsnWarning')
    else this.logger.log('info', text)
  }
}

const ENGINES: readonly HotEngine[] = [hotPostgres, hotMysql]

const MESSAGES: Readonly<Record<keyof HotEvents, string>> = {
  reload: 'new connections use another DSN',
  rejected: 'the current DSN stays',
  drained: 'every connection of the old DSN is closed',
}

const MANAGED: readonly string[] = [
  ...['type', 'driver', 'replication', 'url', 'host', 'port', 'username', 'database'],
  ...['nativeDriver', 'socketPath'],
]

function refuseManaged(options: object): void {
  const said = MANAGED.filter((name) => name in options)
  if (said.length > 0) throw new TypeError(`HotDataSource: remove ${said.join(', ')}: the DSN sets it`)
}

/** Returns a CommonJS package without the namespace that `import()` adds. */
const unwrapped = (module: unknown): unknown =>
  typeof module === 'object' && module !== null && 'default' in module ? module.default : module

async function load(name: HotEngine['packageName']): Promise<unknown> {
  try {
    return await import(name)
  } catch (cause) {
    throw new TypeError(`HotDataSource: ${name} cannot be loaded: npm install ${name}`, { cause })
  }
}
