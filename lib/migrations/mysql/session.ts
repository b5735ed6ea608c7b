import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Socket } from 'node:net'
import type { Connection } from 'mysql2/promise'
import { MigrationError } from '../../errors.js'
import { refused, stopped } from '../messages/problem.js'
import type { Engine } from '../session/engine.js'
import type { ResolvedOptions } from '../session/migrate-options.js'
import { hidePasswords } from '../../text/hide-passwords.js'
import { SessionError, sessionError } from '../session/session-error.js'
import { stoppable } from '../session/stoppable.js'
import {
  type Activity,
  connected,
  connectionFailed,
  type Row,
  type Session,
  type Working,
} from '../session/session.js'
import { activityOf } from './holders.js'

const CONNECT_TIMEOUT_MS = 10_000

/**
 * Opens a session on MySQL.
 *
 * @throws {MigrationError} if it cannot connect.
 */
export async function openMysql(options: ResolvedOptions): Promise<Session> {
  const connection = await connect(options)
  try {
    const [row] = await query(connection, 'SELECT CONNECTION_ID() AS id, DATABASE() AS name')
    const session = new MysqlSession(connection, options, Number(row?.id), String(row?.name))
    await session.settle(0)
    return session
  } catch (error) {
    connection.destroy()
    throw error instanceof MigrationError ? error : connectionFailed(error, options)
  }
}

class MysqlSession implements Session {
  readonly dialect = 'mysql'
  readonly engine: Engine
  readonly schema = ''
  readonly prefix = ''
  readonly #lock: string

  constructor(
    private readonly connection: Connection,
    private readonly options: ResolvedOptions,
    private readonly id: number,
    private readonly database: string,
  ) {
    this.engine = options.engine
    // Lock names are global on the server and have at most 64 characters.
    this.#lock = `ashlar ${createHash('sha256').update(database).digest('hex').slice(0, 40)}`
  }

  rows(sql: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.#reported(query(this.connection, sql, values))
  }

  /**
   * Runs a statement with a timeout. MySQL has no timeout for DDL, so a second connection cancels a statement
   * that takes too long.
   */
  async run(sql: string, timeoutMs: number, signal?: AbortSignal): Promise<number> {
    const result = await stoppable(
      () => this.#query(sql),
      { timeoutMs, signal },
      {
        stopped: this.engine.failures.stopped,
        stop: (ended) => this.#kill(ended),
        absorb: () => this.connection.query('DO 0'),
        mayEndQuietly: ENDS_QUIETLY.test(sql),
      },
    )
    if (mayHaveWarned(result)) await this.#reportWarnings()
    return (result as { readonly affectedRows?: number } | undefined)?.affectedRows ?? 0
  }

  async settle(lockTimeoutMs: number): Promise<void> {
    const seconds = lockTimeoutMs === 0 ? LONGEST_S : Math.ceil(lockTimeoutMs / 1000)
    await this.#query(`USE \`${this.database.replaceAll('`', '``')}\``)
    await this.#query(
      `SET NAMES utf8mb4, SESSION autocommit = 1, SESSION foreign_key_checks = 1, SESSION unique_checks = 1,
       SESSION time_zone = '+00:00', SESSION wait_timeout = ${LONGEST_S},
       SESSION lock_wait_timeout = ${seconds}, SESSION innodb_lock_wait_timeout = ${seconds},
       SESSION sql_mode = REPLACE(REPLACE(REPLACE(@@sql_mode, 'ANSI_QUOTES', ''), 'ANSI', ''), 'NO_BACKSLASH_ESCAPES', '')`,
    )
  }

  async tryLock(): Promise<boolean> {
    const [row] = await this.rows('SELECT GET_LOCK(?, 0) AS got', [this.#lock])
    return Number(row?.got) === 1
  }

  lockHolder(): Promise<Working | undefined> {
    return this.working()
  }

  async unlock(): Promise<void> {
    await this.rows('SELECT RELEASE_LOCK(?)', [this.#lock])
  }

  async guard(): Promise<void> {
    const [row] = await this.rows('SELECT CONNECTION_ID() AS id, IS_USED_LOCK(?) AS holder', [this.#lock])
    if (Number(row?.id) !== this.id) throw stopped('pooler', { kind: 'proxy' })
    if (Number(row?.holder) !== this.id) throw stopped('locked', { kind: 'lockLost' })
  }

  async working(): Promise<Working | undefined> {
    const [holder] = await this.rows('SELECT IS_USED_LOCK(?) AS id', [this.#lock])
    if (holder === undefined || holder.id === null) return undefined
    const id = Number(holder.id)
    // Without the privilege PROCESS, other users' rows are hidden.
    const [row] = await this.rows(
      'SELECT USER AS name, HOST AS host, TIME AS seconds FROM information_schema.PROCESSLIST WHERE ID = ?',
      [id],
    )
    const who =
      row && `user ${String(row.name)} from ${String(row.host)}, busy for ${String(row.seconds)} s, `
    return {
      holder: `another \`ashlar migrate\` (${who ?? ''}connection ${id})`,
      session: id,
      step: undefined,
    }
  }

  /**
   * Does nothing, because the version table's row shows the state. A session's activity cannot be part of a
   * transaction.
   */
  announce(): void {
    return undefined
  }

  async activity(hasGivenUp = false): Promise<Activity> {
    const second = await connect(this.options)
    try {
      return await activityOf(this.id, hasGivenUp, (sql, values) => query(second, sql, values))
    } finally {
      second.destroy()
    }
  }

  /** Queries the table itself, because the catalog hides it from users who may not read it. */
  async hasTable(name: string): Promise<boolean> {
    try {
      await this.rows(`SELECT 1 AS one FROM \`${name}\` LIMIT 0`)
      return true
    } catch (error) {
      if (error instanceof SessionError && error.code === NO_SUCH_TABLE) return false
      throw error
    }
  }

  makeSchema(): Promise<void> {
    return Promise.resolve()
  }

  async close(): Promise<void> {
    await this.connection.end().catch(() => this.connection.destroy())
  }

  async #query(sql: string): Promise<unknown> {
    const [result] = await this.#reported(this.connection.query(sql))
    return result
  }

  async #reported<T>(result: Promise<T>): Promise<T> {
    try {
      return await result
    } catch (error) {
      throw sessionError(error, this.engine.failures, this.options.url)
    }
  }

  async #reportWarnings(): Promise<void> {
    for (const { Level: level, Code: code, Message: message } of await this.rows('SHOW WARNINGS'))
      this.options.report({
        kind: 'notice',
        severity: String(level).toUpperCase(),
        text: hidePasswords(
          this.engine.failures.withoutValues(String(message), String(code)),
          this.options.url,
        ),
      })
  }

  /**
   * Cancels the statement repeatedly, because the first cancellation has no effect if the server has not yet
   * received the statement.
   */
  async #kill(ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      const second = await connect(this.options).catch(() => undefined)
      await second?.query(`KILL QUERY ${this.id}`).catch(() => undefined)
      second?.destroy()
      await pause(KILL_AGAIN_MS, undefined, { signal: ended }).catch(() => undefined)
    }
  }
}

/**
 * Matches statements in which SLEEP and similar functions return normally when they are cancelled, and that
 * have no other effect.
 */
const ENDS_QUIETLY = /^(DO|SELECT|SET)\b/i
const LONGEST_S = 31_536_000
const NO_SUCH_TABLE = '1146'
const KILL_AGAIN_MS = 1000

/** Returns false if the result reports that there are no warnings. Results with rows do not report them. */
const mayHaveWarned = (result: unknown): boolean =>
  Array.isArray(result) || (result as { readonly warningStatus?: number } | undefined)?.warningStatus !== 0

async function connect(options: ResolvedOptions): Promise<Connection> {
  const { default: mysql } = await import('mysql2').catch(() => {
    throw refused(TypeError, { kind: 'missingPackage', engine: 'MySQL', package: 'mysql2' })
  })
  let connecting: ReturnType<typeof mysql.createConnection> | undefined
  return connected(
    options,
    async () => {
      const connection = mysql.createConnection({
        uri: options.url.replace(/^mariadb:/i, 'mysql:'),
        connectTimeout: CONNECT_TIMEOUT_MS,
        charset: 'utf8mb4',
        timezone: 'Z',
        supportBigNumbers: true,
      })
      connecting = connection
      await new Promise<void>((resolve, reject) => {
        connection.once('connect', () => resolve())
        connection.once('error', reject)
      })
      // If an idle connection breaks, the next query fails.
      connection.on('error', () => undefined)
      return connection.promise()
    },
    // The package's types do not include the socket, and destroy() would wait for the server.
    () => (connecting as unknown as { readonly stream: Socket } | undefined)?.stream.destroy(),
  )
}

async function query(
  connection: Connection,
  sql: string,
  values: readonly unknown[] = [],
): Promise<readonly Row[]> {
  const [rows] = await connection.execute(sql, [...values] as (string | number | null)[])
  return Array.isArray(rows) ? (rows as readonly Row[]) : []
}
