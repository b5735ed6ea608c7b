import { completeFramework, refuseNamesakes, takenOver } from './histories/adopt-history.js'
import { FRAMEWORK, isOfFramework, unknownVersion } from './files/migration-files.js'
import { stopped } from './messages/problem.js'
import { BACKFILL_TABLE } from './files/framework-tables.js'
import { withLock } from './session/lock.js'
import { type Planned, readSet } from './migration-set.js'
import { withSession } from './session/session.js'
import { refuseOtherNames } from './preflight.js'
import { forgetPosition } from './session/backfill-position.js'
import type { ResolvedOptions } from './session/migrate-options.js'
import type { Session } from './session/session.js'
import {
  type AppliedVersion,
  appliedRow,
  deleteVersion,
  isGoingDown,
  isRecorded,
  keepFile,
  makeVersionTable,
  markApplied,
  markVersion,
  readVersions,
  recordedRow,
  writeVersion,
} from './session/version-table.js'

/** An applied version whose file has been edited. */
export interface EditedVersion {
  /** The version's name, such as `0002_widgets`. */
  readonly name: string
  /** The up migration that ran; undefined if another tool applied it. */
  readonly applied: string | undefined
  /** The up migration in the file. */
  readonly now: string
}

/** The result of `baseline` for each version. */
export interface BaselineResult {
  /** Ashlar's first version, if some of its tables were missing and have been created. */
  readonly applied: readonly string[]
  /** Versions that are now recorded as applied. None of their statements has run. */
  readonly recorded: readonly string[]
}

/** The recorded state of a version that was resolved manually. */
export type Resolution = 'applied' | 'rolledBack'

/**
 * Records every version up to `to` as applied without running its file, for a database that already has the
 * files' objects. Creates missing tables of Ashlar's first version. The next `up` applies missing upgrades of
 * Ashlar's tables.
 *
 * @throws {RangeError} if the files have no version `to`.
 * @throws {MigrationError} `dirty` if a version was run in this database before; `foreign` if a table of
 *   the application has the name of one of Ashlar's.
 */
export function baseline(options: ResolvedOptions, to: number): Promise<BaselineResult> {
  return correcting(options, async (session, migrations) => {
    if (!migrations.some(({ version }) => version === to)) throw unknownVersion(to, migrations)
    await refuseNamesakes(session, migrations[0])
    await session.makeSchema()
    await makeVersionTable(session)
    const rows = await readVersions(session)
    const there = rows.filter(({ version }) => !isOfFramework(version))
    if (there.length > 0)
      throw stopped('dirty', {
        kind: 'baselineOfVersions',
        versions: there.map((row) => ({ version: row.name, standing: standingOf(row) })),
      })
    const versions = await takenOver(session, to, migrations)
    const made = await completeFramework(session, options, versions[0])
    // Versions that ran keep their original time.
    const missing = versions.filter(
      ({ version }) => !rows.some((row) => row.version === version && !row.dirty),
    )
    const isMade = ({ version }: Planned) => version === FRAMEWORK && made.length > 0
    await together(session, async () => {
      for (const migration of missing)
        if (isMade(migration))
          await writeVersion(session, appliedRow(migration, migration.script.statements.length))
        else await record(session, migration, undefined)
    })
    const namesOf = (some: readonly Planned[]) => some.map(({ name }) => name)
    return {
      applied: namesOf(missing.filter(isMade)),
      recorded: namesOf(missing.filter((one) => !isMade(one))),
    }
  })
}

function standingOf(row: AppliedVersion) {
  if (row.dirty) return isGoingDown(row) ? 'halfRolledBack' : 'failed'
  return isRecorded(row) ? 'recorded' : 'applied'
}

/**
 * Records how a version was resolved manually, without running anything. Use `applied` for a dirty version,
 * or one that never ran, if its changes are now in the database. Use `rolledBack` for a dirty version if none
 * of its changes remain.
 *
 * @throws {RangeError} if neither the files nor the database have the version.
 * @throws {MigrationError} `dirty` if the version needs no resolution.
 */
export function resolve(options: ResolvedOptions, version: number, as: Resolution): Promise<void> {
  return correcting(options, async (session, migrations) => {
    const { row, migration } = await resolvable(session, migrations, version, as)
    await together(session, async () => {
      if (as === 'rolledBack') await deleteVersion(session, version)
      else await record(session, migration, row)
      if (await session.hasTable(BACKFILL_TABLE)) await forgetPosition(session, version)
    })
  })
}

/**
 * Throws if `resolve` would. Changes nothing.
 *
 * @throws {RangeError | MigrationError} like `resolve`.
 */
export async function checkResolution(
  options: ResolvedOptions,
  version: number,
  as: Resolution,
): Promise<void> {
  const { migrations } = await readSet(options.files, options.engine, options.statementTimeoutMs)
  await withSession(options, 'read', (session) => resolvable(session, migrations, version, as))
}

async function resolvable(
  session: Session,
  migrations: readonly Planned[],
  version: number,
  as: Resolution,
): Promise<{ readonly row: AppliedVersion | undefined; readonly migration: Planned | undefined }> {
  const rows = await readVersions(session)
  const row = rows.find((one) => one.version === version)
  const migration = migrations.find((one) => one.version === version)
  if (row === undefined && migration === undefined) throw unknownVersion(version, migrations)
  const name = row?.name ?? migration?.name ?? ''
  if (rows.length === 0)
    throw stopped('dirty', {
      kind: 'noVersionRecorded',
      version: name,
      place: session.engine.placeOf(session.schema),
    })
  if (row?.dirty === false || (row === undefined && as === 'rolledBack'))
    throw stopped('dirty', {
      kind: row === undefined ? 'nothingToResolve' : 'appliedAlready',
      version: name,
    })
  return { row, migration }
}

/**
 * Returns the applied versions whose files have been edited. Changes nothing.
 * @throws {MigrationError} if a file's name differs from the applied version's.
 */
export async function edited(options: ResolvedOptions): Promise<readonly EditedVersion[]> {
  const { migrations } = await readSet(options.files, options.engine, options.statementTimeoutMs)
  return acceptable(migrations, await withSession(options, 'read', readVersions)).map(toEdited)
}

/**
 * Records the files of edited versions as applied, without running anything. Use it if the effect of an edit
 * is already in the database, or if the edit has none.
 *
 * @returns the recorded versions.
 */
export function repair(options: ResolvedOptions): Promise<readonly EditedVersion[]> {
  return correcting(options, async (session, migrations) => {
    const found = acceptable(migrations, await readVersions(session))
    await together(session, async () => {
      for (const { migration } of found) await keepFile(session, migration)
    })
    return found.map(toEdited)
  })
}

/** Runs `work` while holding the migration lock, so that no other session migrates. */
async function correcting<T>(
  options: ResolvedOptions,
  work: (session: Session, migrations: readonly Planned[]) => Promise<T>,
): Promise<T> {
  const { migrations } = await readSet(options.files, options.engine, options.statementTimeoutMs)
  return withSession(options, 'change', (session) =>
    withLock(session, options, async () => {
      await session.settle(options.lockTimeoutMs, options.statementTimeoutMs)
      return work(session, migrations)
    }),
  )
}

async function together(session: Session, work: () => Promise<void>): Promise<void> {
  await session.run('START TRANSACTION', 0)
  try {
    await work()
    await session.run('COMMIT', 0)
  } catch (error) {
    await session.run('ROLLBACK', 0).catch(() => undefined)
    throw error
  }
}

/** Records a version as applied now. */
async function record(
  session: Session,
  migration: Planned | undefined,
  row: AppliedVersion | undefined,
): Promise<void> {
  if (row === undefined) {
    if (migration !== undefined) await writeVersion(session, recordedRow(migration))
    return
  }
  if (migration !== undefined) await keepFile(session, migration)
  // An interrupted rollback does not change the time when the version was applied.
  if (isGoingDown(row))
    await markVersion(session, row.version, { dirty: false, statementsDone: 0, error: undefined })
  else await markApplied(session, row.version, 0)
}

interface Edit {
  readonly row: AppliedVersion
  readonly migration: Planned
}

function editedAmong(migrations: readonly Planned[], rows: readonly AppliedVersion[]): readonly Edit[] {
  return migrations.flatMap((migration) => {
    const row = rows.find(({ version }) => version === migration.version)
    const isEdited =
      row !== undefined && !row.dirty && row.checksum !== undefined && row.checksum !== migration.checksum
    return isEdited ? [{ row, migration }] : []
  })
}

/**
 * Returns the edits of applied files.
 *
 * @throws {MigrationError} if a file's name differs from the applied version's, because it is then not an
 * edit of that version.
 */
function acceptable(migrations: readonly Planned[], rows: readonly AppliedVersion[]): readonly Edit[] {
  const found = editedAmong(migrations, rows)
  refuseOtherNames(
    migrations,
    found.map(({ row }) => row),
  )
  return found
}

const toEdited = ({ row, migration }: Edit): EditedVersion => ({
  name: migration.name,
  applied: row.upSql,
  now: migration.up,
})
