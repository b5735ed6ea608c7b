import { randomBytes } from 'node:crypto'
import { MigrationError } from '../errors.js'
import { dialectOf } from './engines.js'
import { declarationError, stopped, stoppedAgain } from './messages/problem.js'
import { withSession } from './session/session.js'
import type { ResolvedOptions } from './session/migrate-options.js'
import { connectionFailed } from './session/session.js'

/** The databases for the two sides of a comparison. */
export interface Scratch {
  /**
   * Runs `work` with the options of an empty database, and always removes everything that it created there.
   * @throws {MigrationError} `denied` if no database may be created.
   */
  readonly use: <T>(work: (options: ResolvedOptions) => Promise<T>) => Promise<T>
  /** Returns the databases of comparisons that were killed or are running. */
  readonly leftovers: () => Promise<readonly string[]>
}

/**
 * Returns the scratch database for a comparison.
 *
 * @param url - the URL of an empty database. Default: each use creates a database on the options' server.
 */
export function scratchOf(options: ResolvedOptions, url?: string): Scratch {
  return url === undefined ? onTheServer(options) : inDatabase(options, url)
}

/**
 * Parses the connection string of a scratch database.
 *
 * @throws {MigrationError} if the URL is invalid.
 */
function urlOf(options: ResolvedOptions): URL {
  try {
    return new URL(options.url)
  } catch (error) {
    throw connectionFailed(error, options)
  }
}

/**
 * Returns options for scratch databases. They report no progress, and the cleanup ignores the run's signal.
 * No client is blocked there, so a statement may wait for locks until its own timeout. On MariaDB an ALTER
 * TABLE waits for the statistics of other databases' tables, which the server keeps in one table.
 */
const quiet = (options: ResolvedOptions): ResolvedOptions => ({
  ...options,
  lockTimeoutMs: options.statementTimeoutMs,
  report: () => undefined,
})
const unstoppable = (options: ResolvedOptions): ResolvedOptions => ({ ...quiet(options), signal: undefined })

function onTheServer(options: ResolvedOptions): Scratch {
  const { scratch } = options.engine
  const url = urlOf(options)
  const database = decodeURIComponent(url.pathname.slice(1))
  const prefix = `${[...database].slice(0, LONGEST_DATABASE).join('')}_ashlar_scratch_`
  const find = (on: ResolvedOptions) =>
    withSession(on, 'read', async (session) =>
      (await session.rows(scratch.find, [prefix])).map(({ name }) => String(name)),
    )
  return {
    use: async (work) => {
      const name = `${prefix}${randomBytes(4).toString('hex')}`
      await withSession(quiet(options), 'read', (session) => session.rows(scratch.create(name))).catch(
        denied(scratch.right),
      )
      const made = new URL(url)
      made.pathname = `/${encodeURIComponent(name)}`
      try {
        return await work({ ...quiet(options), url: made.href, isScratch: true })
      } catch (error) {
        throw pooled(error)
      } finally {
        // A database that cannot be dropped remains and is reported later.
        await withSession(unstoppable(options), 'read', (session) => session.rows(scratch.drop(name))).catch(
          () => undefined,
        )
      }
    },
    leftovers: () => find(unstoppable(options)),
  }
}

/** PostgreSQL limits database names to 63 bytes. */
const LONGEST_DATABASE = 30

function inDatabase(options: ResolvedOptions, url: string): Scratch {
  if (dialectOf(url) !== options.engine.dialect)
    throw declarationError('migrations', [{ kind: 'scratchOfOtherEngine' }])
  const there = { ...quiet(options), url: url.trim(), isScratch: true }
  return {
    use: async (work) => {
      const { scratch } = options.engine
      const [occupied] = await withSession(there, 'read', (session) => session.rows(scratch.occupied))
      if (occupied !== undefined) throw declarationError('migrations', [{ kind: 'scratchNotEmpty' }])
      try {
        return await work(there)
      } finally {
        await withSession(unstoppable(there), 'change', (session) => scratch.empty(session))
      }
    },
    leftovers: () => Promise.resolve([]),
  }
}

/**
 * Explains that a new database is unreachable although the server is reachable, because a pooler in between
 * does not know the new database.
 */
function pooled(error: unknown): unknown {
  if (!(error instanceof MigrationError)) return error
  const { problem } = error
  const { kind } = (problem as { readonly cause?: typeof problem }).cause ?? problem
  return error.stop === 'pooler' || kind === 'noConnection'
    ? stoppedAgain(error, { kind: 'scratchNotReached', cause: problem })
    : error
}

const denied =
  (right: string) =>
  (error: unknown): never => {
    if (!(error instanceof MigrationError) || error.stop !== 'denied') throw error
    throw stopped('denied', { kind: 'noRightForScratch', right, sqlState: error.sqlState ?? '' })
  }
