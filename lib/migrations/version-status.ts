import { Unavailable } from '../errors.js'
import { commandLine } from '../text/command-line.js'
import { isOfFramework } from './files/migration-files.js'
import { refuseForeign } from './histories/adopted-head.js'
import { missingOfFramework } from './histories/adopt-history.js'
import { otherHistory } from './histories/other-history.js'
import type { OtherHistory } from './messages/history.js'
import { type MigrationSet, readSet, refusalsOf } from './migration-set.js'
import { withSession } from './session/session.js'
import { resolveOptions } from './resolve-options.js'
import type { MigrateOptions, ResolvedOptions } from './session/migrate-options.js'
import { type BackfillPosition, readPositions } from './session/backfill-position.js'
import type { Session } from './session/session.js'
import type { TableDifference } from '../text/table-difference.js'
import type { Difference } from './messages/differences.js'
import type { Unfinished } from './messages/unfinished.js'
import { unfinishedOf } from './down-step.js'
import {
  type AppliedVersion,
  isGoingDown,
  isRecorded,
  isUnfinished,
  readVersions,
  readVersionsNow,
  type VersionsNow,
} from './session/version-table.js'

/**
 * The state of a version.
 * - `pending`: not applied yet.
 * - `running`: a session is applying it or rolling it back.
 * - `dirty`: its step failed; the next run resumes it.
 * - `edited`: its file differs from the applied one.
 * - `ahead`: it is applied but these files lack it, because a newer release applied it or its file was
 *   removed.
 */
export type VersionState = 'applied' | 'pending' | 'running' | 'dirty' | 'edited' | 'ahead'

/** A version and its state. */
export interface VersionStatus {
  readonly version: number
  /** The version's name, such as `0002_widgets`. */
  readonly name: string
  readonly state: VersionState
  readonly appliedAt: Date | undefined
  /** True if it was recorded as applied without running its file here, such as by `baseline`. */
  readonly isRecorded: boolean
  /** The session that works on it, as the server describes it. Undefined unless the version is running. */
  readonly holder: string | undefined
  /** The error of a dirty version. Undefined if its run ended without a report. */
  readonly error: string | undefined
  /** The state in which an earlier run left it. Undefined unless the version is dirty. */
  readonly unfinished: Unfinished | undefined
  /** False if another tool applied it. Edits of its file are then unknown. */
  readonly isChecked: boolean
  /**
   * True if the files have it and the database lacks it: it is pending, running, or failed. False after a
   * failed rollback that removed nothing.
   */
  readonly isMissing: boolean
  /** True if its files are Ashlar's. */
  readonly isFramework: boolean
  /**
   * For an edited version, its name in these files if it differs. They may then be another database's files.
   */
  readonly otherName?: string
  /**
   * The time when the last run of a dirty version's up migration began or failed. `error` belongs to that
   * run.
   */
  readonly lastRunAt?: Date
  /** True if its file was edited since that run. */
  readonly isEditedSince?: true
  /**
   * The reason why lint rejects its file, so that the next run is rejected. Only set for a missing version.
   */
  readonly refusal?: string
}

/**
 * Returns the state of the database's versions in order. Changes nothing and takes no locks.
 *
 * @throws {MigrationError} `foreign` if another tool migrates the schema.
 */
export async function status(options: ResolvedOptions): Promise<readonly VersionStatus[]> {
  const set = await readSet(options.files, options.engine, options.statementTimeoutMs)
  return withSession(options, 'read', async (session) => {
    const now = await readVersionsNow(session)
    await refuseForeign(session, now.rows, set.migrations)
    return statusOf(set, now, options, await positionsOf(session, now))
  })
}

/**
 * Returns the effect of another tool's history on the next `up`, or undefined if there is none. Changes
 * nothing.
 */
export async function otherHistoryOf(options: ResolvedOptions): Promise<OtherHistory | undefined> {
  const { migrations } = await readSet(options.files, options.engine, options.statementTimeoutMs)
  return withSession(options, 'read', async (session) =>
    otherHistory(session, migrations, await readVersions(session)),
  )
}

/** A database whose catalog a comparison reads on a read-only connection. */
export type LiveSchema = Pick<Session, 'dialect' | 'schema' | 'isSchemaNamed' | 'rows'>

/** Compares the tables of a database with a model. */
export type SchemaComparison = (live: LiveSchema) => Promise<readonly TableDifference[]>

/**
 * Returns the differences between the database and its files. Properties that the user may not read are not
 * compared.
 */
export async function verify(
  options: ResolvedOptions,
  compare: SchemaComparison = () => Promise.resolve([]),
): Promise<readonly (Difference | TableDifference)[]> {
  const set = await readSet(options.files, options.engine, options.statementTimeoutMs)
  return withSession(options, 'read', async (session) => {
    const now = await readVersionsNow(session)
    const other = await otherHistory(session, set.migrations, now.rows)
    const refused: readonly Difference[] =
      other?.isRefused === true ? [{ kind: 'refused', problem: other.problem }] : []
    const positions = await positionsOf(session, now)
    const differences = statusOf(set, now, options, positions).flatMap(differenceOf)
    return [
      ...refused,
      ...differences,
      ...(await incompleteFramework(session, set, now)),
      ...(await options.engine.unusableIndexes(session, now.rows)),
      ...(await compare(session)),
    ]
  })
}

/** Returns the tables and columns of Ashlar that are missing although all its versions are applied. */
async function incompleteFramework(
  session: Session,
  { migrations }: MigrationSet,
  { rows }: VersionsNow,
): Promise<readonly Difference[]> {
  const files = migrations.filter(({ version }) => isOfFramework(version))
  const isApplied = files.every(({ version }) => rows.some((row) => row.version === version && !row.dirty))
  if (!isApplied) return []
  const { tables, incomplete } = await missingOfFramework(session, files)
  return [
    ...tables.map((table) => ({ kind: 'missingTable', table }) as const),
    ...incomplete.map((found) => ({ kind: 'incompleteTable', ...found }) as const),
  ]
}

/**
 * Returns the names of the versions that the files have and the database lacks, including running and failed
 * ones.
 */
export async function pendingVersions(options: MigrateOptions): Promise<readonly string[]> {
  return (await status(resolveOptions(options))).filter(({ isMissing }) => isMissing).map(({ name }) => name)
}

/** The database and files that `schemaIsCurrent` compares. */
export interface SchemaCheckOptions extends Omit<MigrateOptions, 'url'> {
  /**
   * The connection string, `postgres://…` or `mysql://…`, or a function that returns one. The function is
   * called for every probe, so that it can return a rotated password: `async () => (await
   * resolveDsn('fsnotify://postgres/etc/secrets/dsn')).dsn`.
   */
  readonly url: string | (() => string | Promise<string>)
}

/**
 * Returns a readiness check for a server. It fails while the schema is older than the files, and names the
 * missing version. Once the schema was current, it always succeeds without opening a connection, because only
 * an explicit rollback makes a schema older.
 *
 * @example
 * ```ts
 * import { ServerBuilder } from 'ashlar'
 * import { schemaIsCurrent } from 'ashlar/migrations'
 *
 * const check = schemaIsCurrent({ url: 'postgres://localhost/shop', files: 'migrations', module: 'shop' })
 * const builder = new ServerBuilder({ readinessChecks: [{ name: 'schema', check }] })
 * ```
 */
export function schemaIsCurrent(options: SchemaCheckOptions): () => Promise<void> {
  const { url } = options
  let wasCurrent = false
  let asking: Promise<void> | undefined
  const ask = async () => {
    const missing = await pendingVersions({ ...options, url: typeof url === 'function' ? await url() : url })
    if (missing.length > 0)
      throw new Unavailable(
        `the schema is older than this server: ${missing.join(', ')} missing; run ${commandLine('migrate up')}`,
      )
    wasCurrent = true
  }
  // While the database is unreachable, all probes share one connection attempt.
  return () => {
    if (wasCurrent) return Promise.resolve()
    asking ??= ask().finally(() => (asking = undefined))
    return asking
  }
}

type Positions = ReadonlyMap<number, BackfillPosition>

/** Returns the positions of unfinished backfills. */
const positionsOf = async (session: Session, { rows }: VersionsNow): Promise<Positions> =>
  rows.some(({ dirty }) => dirty) ? readPositions(session) : new Map()

function statusOf(
  set: MigrationSet,
  { rows, working }: VersionsNow,
  { engine }: ResolvedOptions,
  positions: Positions,
): readonly VersionStatus[] {
  const { migrations } = set
  const refusals = refusalsOf(set)
  const files = new Map(migrations.map((migration) => [migration.version, migration]))
  const applied = new Set(rows.map(({ version }) => version))
  const holder = working?.holder
  // An uncommitted transaction is not visible in the version table.
  const isAtWork = (version: number, ...directions: readonly ('up' | 'down')[]) =>
    working?.step?.version === version && directions.includes(working.step.direction)
  const pending = migrations
    .filter(({ version }) => !applied.has(version))
    .map(({ version, name }): VersionStatus => {
      const isRunning = isAtWork(version, 'up')
      return {
        version,
        name,
        state: isRunning ? 'running' : 'pending',
        appliedAt: undefined,
        isRecorded: false,
        holder: isRunning ? holder : undefined,
        error: undefined,
        unfinished: undefined,
        isChecked: true,
        isMissing: true,
        isFramework: isOfFramework(version),
        ...refusalOf(name, refusals),
      }
    })
  const known = rows.map((row): VersionStatus => {
    const { version, name } = row
    const isRunning =
      (working !== undefined && isUnfinished(row)) ||
      (row.dirty ? isAtWork(version, 'up', 'down') : isAtWork(version, 'down'))
    const unfinished = unfinishedOf(row, engine, positions.get(row.version))
    const file = files.get(version)
    const fileName = file?.name
    const state = isRunning ? 'running' : stateOf(row, file?.checksum)
    const isMissing = file !== undefined && (isRunning || (row.dirty && unfinished?.staysApplied !== true))
    const isFailedUp = state === 'dirty' && !isGoingDown(row)
    const isEditedSince =
      isFailedUp && row.checksum !== undefined && file !== undefined && file.checksum !== row.checksum
    return {
      version,
      name,
      state,
      appliedAt: row.dirty && !isGoingDown(row) ? undefined : row.appliedAt,
      isRecorded: isRecorded(row),
      holder: isRunning ? holder : undefined,
      error: isRunning ? undefined : row.error,
      unfinished: isRunning ? undefined : unfinished,
      isChecked: row.checksum !== undefined,
      isMissing,
      isFramework: isOfFramework(version),
      ...(state === 'edited' && fileName !== undefined && fileName !== name && { otherName: fileName }),
      ...(isFailedUp && { lastRunAt: row.appliedAt }),
      ...(isEditedSince && { isEditedSince }),
      ...(isMissing && refusalOf(fileName, refusals)),
    }
  })
  return [...pending, ...known].sort((a, b) => a.version - b.version)
}

function refusalOf(
  name: string | undefined,
  refusals: ReadonlyMap<string, string>,
): Pick<VersionStatus, 'refusal'> {
  const refusal = refusals.get(name ?? '')
  return refusal === undefined ? {} : { refusal }
}

function stateOf(row: AppliedVersion, shipped: string | undefined): VersionState {
  if (row.dirty) return 'dirty'
  if (shipped === undefined) return 'ahead'
  return row.checksum === undefined || row.checksum === shipped ? 'applied' : 'edited'
}

function differenceOf(status: VersionStatus): readonly Difference[] {
  const { name: version, state, error, unfinished, holder, otherName, isMissing, refusal } = status
  switch (state) {
    case 'pending':
      return [{ kind: 'pending', version, ...(refusal !== undefined && { refusal }) }]
    case 'running':
      return [{ kind: 'running', version, holder }]
    case 'dirty':
      return [{ kind: 'dirty', version, error, unfinished, isOfTheseFiles: isMissing }]
    case 'edited':
      return [
        otherName === undefined
          ? { kind: 'edited', version }
          : { kind: 'otherName', version, name: otherName },
      ]
    case 'ahead':
      return [{ kind: 'ahead', version }]
    case 'applied':
      return []
  }
}

/** A schema of the database that has a version table. */
export interface VersionedSchema {
  readonly name: string
  /**
   * The versions of these files in the schema, without Ashlar's own. If there are any, this may be the
   * intended schema.
   */
  readonly same: readonly string[]
}

/**
 * Returns the database's schemas that have versions of a module. Empty on MySQL, which has no schemas.
 * Changes nothing.
 */
export async function versionedSchemas(options: ResolvedOptions): Promise<readonly VersionedSchema[]> {
  const { schemas } = options.engine
  if (schemas === undefined) return []
  const { migrations } = await readSet(options.files, options.engine, options.statementTimeoutMs)
  const ours = migrations.filter(({ version }) => !isOfFramework(version)).map(({ name }) => name)
  return withSession(options, 'read', async (session) => {
    const found: VersionedSchema[] = []
    for (const { name } of await session.rows(schemas.all)) {
      const schema = String(name)
      // The user may lack the privilege to read another module's versions.
      const rows = await session.rows(schemas.versionsIn(schema)).catch(() => [])
      const there = rows.map((row) => String(row.name))
      found.push({ name: schema, same: ours.filter((one) => there.includes(one)) })
    }
    return found
  })
}
