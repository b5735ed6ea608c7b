import { createHash } from 'node:crypto'
import { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from 'pg'
import { MigrationError } from '../../errors.js'
import { type CancelTarget, requestCancel } from '../../persistence/engines/postgres/cancel-request.js'
import { refused, stopped } from '../messages/problem.js'
import type { Engine } from '../session/engine.js'
import type { ResolvedOptions } from '../session/migrate-options.js'
import { hidePasswords } from '../../text/hide-passwords.js'
import { sessionError } from '../session/session-error.js'
import { stoppable } from '../session/stoppable.js'
import {
  type Activity,
  connected,
  connectionFailed,
  type Row,
  type Session,
  type Working,
} from '../session/session.js'
import { ACTIVITY, applicationName, holderOf, holders } from './holders.js'

/** The lock key, `ashlar` in ASCII. There is one lock per database for all modules that migrate in it. */
const LOCK = { classId: 0x6173, objectId: 0x686c6172 } as const
const LOCK_KEY = String(BigInt(LOCK.classId) * 0x100000000n + BigInt(LOCK.objectId))
/** The class of a second lock that identifies the module being migrated. */
const MODULE_LOCK_CLASS = LOCK.objectId
const CONNECT_TIMEOUT_MS = 10_000
const PROBE_TIMEOUT_MS = 3_000
/** The time in milliseconds in which a cancelled statement should end. */
const CANCEL_WAIT_MS = 1_000

/**
 * Opens a session on PostgreSQL.
 *
 * @param mayChange - false for a session that only reads. It changes no settings, so that it can use a
 * pooler.
 * @throws {MigrationError} if it cannot connect, or behind a transaction pooler.
 */
export async function openPostgres(options: ResolvedOptions, mayChange: boolean): Promise<Session> {
  const client = await connect(options)
  try {
    const session = new PostgresSession(client, options, await backendOf(client))
    if (!mayChange) return session
    if (ownProcessId(client) !== session.backend && (await isPooled(client, session.backend, options)))
      throw stopped('pooler', { kind: 'pooler' })
    await session.settle(0, 0)
    return session
  } catch (error) {
    await end(client)
    throw error instanceof MigrationError ? error : connectionFailed(error, options)
  }
}

class PostgresSession implements Session {
  readonly dialect = 'postgres'
  readonly engine: Engine
  readonly schema: string
  readonly isSchemaNamed: boolean
  readonly prefix: string
  #step: Working['step']

  constructor(
    private readonly client: Client,
    private readonly options: ResolvedOptions,
    readonly backend: number,
  ) {
    this.engine = options.engine
    this.schema = options.schema
    this.isSchemaNamed = options.isSchemaNamed
    client.on('notice', ({ severity = 'NOTICE', message = '' }) =>
      options.report({ kind: 'notice', severity, text: hidePasswords(message, options.url) }),
    )
    this.prefix = `${quoted(options.schema)}.`
  }

  async rows(sql: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    let number = 0
    // Without values, a `?` is an operator. In quotes it is part of a name.
    const numbered =
      values.length === 0
        ? sql
        : sql.replaceAll(/"[^"]*"|\?/g, (found) => (found === '?' ? `$${++number}` : found))
    return (await this.#reported(this.client.query<Row>(numbered, [...values]))).rows
  }

  run(sql: string, _timeoutMs = 0, signal?: AbortSignal): Promise<number> {
    return stoppable(
      async () => (await this.#reported(this.client.query(sql))).rowCount ?? 0,
      { timeoutMs: 0, signal },
      {
        stopped: this.engine.failures.stopped,
        stop: (ended) => this.#cancel(ended),
        absorb: () => this.client.query('SELECT 1'),
        mayEndQuietly: false,
      },
    )
  }

  /**
   * Resets settings and the search path. The path only contains the module's schema, so that missing names
   * are not found elsewhere. Extensions can be used, too: see `reachExtensions`.
   */
  async settle(lockTimeoutMs: number, statementTimeoutMs: number): Promise<void> {
    await this.run('RESET SESSION AUTHORIZATION; RESET ROLE; RESET ALL')
    await this.rows(
      `SELECT set_config(name, setting, false)
       FROM unnest(?::text[], ?::text[]) AS wanted (name, setting)
       WHERE name IN (SELECT name FROM pg_settings)`,
      [
        Object.keys(SETTINGS).concat('search_path', 'lock_timeout', 'statement_timeout', 'application_name'),
        Object.values(SETTINGS).concat(
          quoted(this.schema),
          String(lockTimeoutMs),
          String(statementTimeoutMs),
          applicationName(this.options.module, this.#step),
        ),
      ],
    )
  }

  async tryLock(): Promise<boolean> {
    const [row] = await this.rows(
      `SELECT CASE WHEN pg_try_advisory_lock(?::bigint) THEN pg_try_advisory_lock(?, ?) IS NOT NULL END AS got`,
      [LOCK_KEY, MODULE_LOCK_CLASS, this.#moduleLock],
    )
    return row?.got === true
  }

  async lockHolder(): Promise<Working | undefined> {
    const [row] = await this.rows(holders(OUR_LOCK))
    return row && holderOf(row)
  }

  async unlock(): Promise<void> {
    await this.rows('SELECT pg_advisory_unlock(?, ?), pg_advisory_unlock(?::bigint)', [
      MODULE_LOCK_CLASS,
      this.#moduleLock,
      LOCK_KEY,
    ])
  }

  async working(): Promise<Working | undefined> {
    const [row] = await this.rows(
      holders(
        `locktype = 'advisory' AND granted AND classid = ? AND objid::bigint = ? AND objsubid = 2 AND ${HERE}`,
      ),
      [MODULE_LOCK_CLASS, this.#moduleLock >>> 0],
    )
    return row && holderOf(row)
  }

  announce(step: NonNullable<Working['step']>): void {
    this.#step = step
  }

  async guard(): Promise<void> {
    const [row] = await this.rows(
      `SELECT pg_backend_pid() AS backend,
              EXISTS (SELECT FROM pg_locks WHERE ${OUR_LOCK} AND pid = pg_backend_pid()) AS held`,
    )
    if (row?.backend !== this.backend) throw stopped('pooler', { kind: 'pooler' })
    if (row.held !== true) throw stopped('locked', { kind: 'lockLost' })
  }

  async activity(): Promise<Activity> {
    const second = await connect(this.options, PROBE_TIMEOUT_MS)
    try {
      const { rows } = await second.query<{ blockers: string | null; phase: string | null }>(ACTIVITY, [
        this.backend,
      ])
      return { blockers: rows[0]?.blockers ?? undefined, phase: rows[0]?.phase ?? undefined }
    } finally {
      await end(second)
    }
  }

  async hasTable(name: string): Promise<boolean> {
    const [row] = await this.rows('SELECT to_regclass(?) IS NOT NULL AS found', [this.prefix + quoted(name)])
    return row?.found === true
  }

  async makeSchema(): Promise<void> {
    const { schema } = this
    const [found] = await this.rows('SELECT 1 AS one FROM pg_namespace WHERE nspname = ?', [schema])
    if (found === undefined) await this.run(`CREATE SCHEMA ${quoted(schema)}`)
  }

  close(): Promise<void> {
    return end(this.client)
  }

  /**
   * Cancels the statement, first with a CancelRequest, which needs no free connection slot. A pooler may have
   * invented the key, so a second login follows.
   */
  async #cancel(ended: AbortSignal): Promise<void> {
    // The package's types do not include the key.
    await requestCancel(this.client as unknown as CancelTarget)
    await pause(CANCEL_WAIT_MS, undefined, { signal: ended }).catch(() => undefined)
    if (ended.aborted) return
    const second = await connect(this.options, PROBE_TIMEOUT_MS).catch(() => undefined)
    if (second === undefined) return
    // With a pooler of one session, the login would wait for the session that it should cancel.
    ended.addEventListener('abort', () => void end(second))
    await second.query('SELECT pg_cancel_backend($1)', [this.backend]).catch(() => undefined)
    await end(second)
  }

  async #reported<T>(result: Promise<T>): Promise<T> {
    try {
      return await result
    } catch (error) {
      throw sessionError(error, this.engine.failures, this.options.url)
    }
  }

  get #moduleLock(): number {
    return createHash('sha256').update(this.schema).digest().readInt32BE()
  }
}

const HERE = 'database = (SELECT oid FROM pg_database WHERE datname = current_database())'
const OUR_LOCK = `locktype = 'advisory' AND granted AND classid = ${LOCK.classId} AND objid = ${LOCK.objectId}
  AND objsubid = 1 AND ${HERE}`

/** Settings of a role or database that would end a long run or change the effect of a file. */
const SETTINGS: Readonly<Record<string, string>> = {
  idle_session_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  transaction_timeout: '0',
  standard_conforming_strings: 'on',
  client_min_messages: 'notice',
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

async function connect(options: ResolvedOptions, timeoutMs = CONNECT_TIMEOUT_MS): Promise<Client> {
  const { default: pg } = await import('pg').catch(() => {
    throw refused(TypeError, { kind: 'missingPackage', engine: 'PostgreSQL', package: 'pg' })
  })
  const socket = new Socket()
  return connected(
    options,
    async () => {
      const client = new pg.Client({
        connectionString: options.url,
        application_name: applicationName(options.module),
        connectionTimeoutMillis: timeoutMs,
        keepAlive: true,
        stream: () => socket,
      })
      // If an idle connection breaks, the next query fails.
      client.on('error', () => undefined)
      await client.connect()
      return client
    },
    () => socket.destroy(),
  )
}

async function end(client: Client): Promise<void> {
  await client.end().catch(() => undefined)
}

async function backendOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return rows[0]?.pid ?? 0
}

/**
 * Returns the process id that the server sent when the connection began, which the package's types do not
 * include. A pooler sends its own.
 */
const ownProcessId = (client: Client): unknown => (client as unknown as { processID?: unknown }).processID

/**
 * Returns true if two statements of one connection may run in different server sessions. While a second
 * connection has an open transaction, it either uses the session that the first one has just used, or the
 * first one gets another session.
 */
async function isPooled(client: Client, backend: number, options: ResolvedOptions): Promise<boolean> {
  const second = await connect(options, PROBE_TIMEOUT_MS).catch(() => undefined)
  if (second === undefined) return false
  const inTime = <T>(work: Promise<T>): Promise<T | undefined> =>
    Promise.race([work, pause(PROBE_TIMEOUT_MS, undefined, { ref: false })])
  try {
    const theirs = await inTime(second.query('BEGIN').then(() => backendOf(second)))
    if (theirs === backend) return true
    return theirs !== undefined && (await inTime(backendOf(client))) !== backend
  } catch (error) {
    return (error as { code?: unknown }).code === REFUSED_BY_THE_POOLER
  } finally {
    void end(second)
  }
}

/** The error with which a pooler in statement mode rejects BEGIN. */
const REFUSED_BY_THE_POOLER = '08P01'
