import { randomUUID } from 'node:crypto'
import type { RequestContext } from '../../context.js'
import {
  current,
  type Database,
  executorOf,
  named,
  type Statement,
  transaction,
} from '../../persistence/sql/transaction.js'
import {
  type Claim,
  type ClaimOutcome,
  DEFAULT_TTL_MS,
  type IdempotencyKey,
  type IdempotencyStore,
  type Omission,
  type StoredReply,
} from './idempotency-store.js'
import { bytesOf, keyPart, sqlText } from '../../persistence/engines/sql-text.js'

/** Options of a `SqlIdempotencyStore`. */
export interface SqlIdempotencyOptions {
  /** The time for which a response can be replayed, in milliseconds. Default: 10 minutes. */
  readonly ttlMs?: number
}

const SWEEP_EVERY_MS = 60_000

/**
 * Stores responses in the table `idempotency_keys` of the baseline migration, for all processes that use the
 * same database. Handlers run in a transaction that repositories of the same DataSource join, so that their
 * writes and the response are committed together. If a process dies before the commit, nothing is written,
 * and the key is free when its lease ends.
 */
export class SqlIdempotencyStore implements IdempotencyStore {
  readonly #database: Database
  readonly #ttlMs: number
  readonly #statements: Statements
  #sweptAt = 0
  #table: Promise<unknown> | undefined

  constructor(dataSource: Database['dataSource'], { ttlMs = DEFAULT_TTL_MS }: SqlIdempotencyOptions = {}) {
    this.#database = executorOf(dataSource)
    this.#ttlMs = ttlMs
    this.#statements = statementsFor(this.#database)
  }

  transaction<R>(context: RequestContext, effect: (context: RequestContext) => Promise<R>): Promise<R> {
    return transaction(this.#database, effect, { context })
  }

  checkWrites(): Promise<void> {
    return this.#database.checkWrites()
  }

  async claim(key: IdempotencyKey, fingerprint: string, leaseMs: number): Promise<ClaimOutcome> {
    await this.#prepared()
    this.#sweep()
    const { find, insert, take } = this.#statements
    const place = columnsOf(key)
    for (;;) {
      const { rows } = await this.#database.run(find, place)
      const [row] = rows
      if (row !== undefined && !isTrue(row[4])) return outcomeOf(row)
      const token = randomUUID()
      const lease = [fingerprint, leaseMs, leaseMs + this.#ttlMs]
      // If another caller claimed the key first, its row is read again, because it may already have a
      // response.
      const { affected } =
        row === undefined
          ? await this.#database.run(insert, [...place, token, ...lease])
          : await this.#database.run(take, [token, ...lease, ...place, row[1] ?? ''])
      if (affected === 1) return { state: 'claimed', claim: this.#claimOf(place, token) }
    }
  }

  #claimOf(place: readonly string[], token: string): Claim {
    const { renew, complete, release } = this.#statements
    return {
      renew: async (leaseMs) => {
        await this.#database.run(renew, [leaseMs, leaseMs + this.#ttlMs, ...place, token])
      },
      complete: async (reply, context) => {
        const values = [reply.type, enveloped(reply), this.#ttlMs, ...place, token]
        const { affected } = await current(this.#database, context).run(complete, values)
        return affected === 1
      },
      release: async () => {
        await this.#database.run(release, [...place, token])
      },
    }
  }

  /** Creates the table in SQLite, which has no migrations. */
  async #prepared(): Promise<void> {
    if (this.#database.dialect.ddl.migration !== undefined) return
    this.#table ??= this.#database.run(named(SQLITE_TABLE), []).catch((error: unknown) => {
      // Lets the next call try again.
      this.#table = undefined
      throw error
    })
    await this.#table
  }

  #sweep(): void {
    const now = Date.now()
    if (now - this.#sweptAt < SWEEP_EVERY_MS) return
    this.#sweptAt = now
    this.#database.run(this.#statements.sweep, []).catch(() => {})
  }
}

type Statements = Readonly<
  Record<'find' | 'insert' | 'take' | 'renew' | 'complete' | 'release' | 'sweep', Statement>
>

const KEY = ['account_id', 'subject', 'method', 'request_id']
const IS_KEY = KEY.map((column) => `${column} = ?`).join(' AND ')
// While a call runs, response_type contains the token of its claim. A call that takes over the key writes
// another token.
const IS_OURS = `${IS_KEY} AND status = 'pending' AND response_type = ?`
const LEASE = ['fingerprint', 'lease_until', 'expires_at']

const statementsFor = (database: Database): Statements => {
  const { now, later, bytesIn, insertNew, statement, table } = sqlText(database)
  const keys = table('idempotency_keys')
  // Responses stored by the Go framework have the status `upgraded` and are never replayed.
  const isOver = `(status = 'upgraded' OR (CASE WHEN status = 'pending' THEN lease_until ELSE expires_at END) < ${now})`
  return {
    find: statement(
      `SELECT status, response_type, ${bytesIn('response')}, fingerprint, CASE WHEN ${isOver} THEN 1 ELSE 0 END AS is_over FROM ${keys} WHERE ${IS_KEY}`,
    ),
    insert: statement(
      insertNew(
        keys,
        [...KEY, 'status', 'response_type', ...LEASE, 'created_at'],
        ['?', '?', '?', '?', `'pending'`, '?', '?', later, later, now],
      ),
    ),
    take: statement(
      `UPDATE ${keys} SET status = 'pending', response_type = ?, response = NULL, fingerprint = ?, lease_until = ${later}, expires_at = ${later}, created_at = ${now} WHERE ${IS_KEY} AND COALESCE(response_type, '') = ? AND ${isOver}`,
    ),
    renew: statement(`UPDATE ${keys} SET lease_until = ${later}, expires_at = ${later} WHERE ${IS_OURS}`),
    complete: statement(
      `UPDATE ${keys} SET status = 'done', response_type = ?, response = ?, lease_until = NULL, expires_at = ${later} WHERE ${IS_OURS}`,
    ),
    release: statement(`DELETE FROM ${keys} WHERE ${IS_OURS}`),
    sweep: statement(`DELETE FROM ${keys} WHERE expires_at < ${now}`),
  }
}

const SQLITE_TABLE = `CREATE TABLE IF NOT EXISTS idempotency_keys (
  account_id TEXT NOT NULL,
  subject TEXT NOT NULL,
  method TEXT NOT NULL,
  request_id TEXT NOT NULL,
  status TEXT NOT NULL,
  response_type TEXT,
  response BLOB,
  fingerprint TEXT,
  lease_until INTEGER,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  PRIMARY KEY (account_id, subject, method, request_id)
)`

const columnsOf = ({ tenant, subject, method, requestId }: IdempotencyKey): string[] =>
  [tenant, subject, method, requestId].map(keyPart)

const outcomeOf = ([status, type, response, fingerprint]: readonly unknown[]): ClaimOutcome => {
  const print = String(fingerprint)
  if (status === 'pending') return { state: 'running', fingerprint: print }
  return { state: 'done', fingerprint: print, reply: opened(String(type), bytesOf(response)) }
}

const isTrue = (value: unknown): boolean => Number(value) === 1

/** Encodes a reply as one line of JSON with everything except the message, followed by the message. */
const enveloped = ({ headers, trailers, omitted, message }: StoredReply): Buffer =>
  Buffer.concat([Buffer.from(`${JSON.stringify([headers, trailers, omitted])}\n`), message])

const opened = (type: string, bytes: Buffer): StoredReply => {
  const end = bytes.indexOf('\n')
  const [headers, trailers, omitted] = JSON.parse(bytes.toString('utf8', 0, end)) as [
    StoredReply['headers'],
    StoredReply['trailers'],
    (Omission | null)?,
  ]
  const reply = { type, headers, trailers, message: bytes.subarray(end + 1) }
  return omitted ? { ...reply, omitted } : reply
}
