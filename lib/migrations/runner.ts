import { adopt } from './histories/adopt-history.js'
import { beforeStep } from './session/step.js'
import { down, type DownResult, type RollBack, rollBacks } from './roll-back.js'
import { unknownVersion } from './files/migration-files.js'
import { withLock } from './session/lock.js'
import { refused } from './messages/problem.js'
import { preflight, refuseEdited, settledIn } from './preflight.js'
import { type MigrationSet, type Planned, readSet, refuseBadFiles } from './migration-set.js'
import { withSession } from './session/session.js'
import type { ResolvedOptions } from './session/migrate-options.js'
import { backfillOf } from './sql/backfill.js'
import { endRollBack } from './down-step.js'
import { applyOrRecord } from './search/apply-or-record.js'
import { isSearchIndex } from './search/search-versions.js'
import type { Session } from './session/session.js'
import {
  type AppliedVersion,
  appliedRow,
  isGoingDown,
  isRecorded,
  isUnfinished,
  keepDown,
  makeVersionTable,
  readVersions,
} from './session/version-table.js'

/** The result of `up`. */
export interface UpResult {
  /** The versions that this run applied, in order. */
  readonly applied: readonly string[]
  /**
   * Generated search versions that were recorded as applied without running them: they read objects that no
   * longer exist, and other versions make them unnecessary. Absent if there are none.
   */
  readonly recorded?: readonly string[]
  /**
   * The number of rows that the applied backfills have written, and how many of these an earlier run wrote.
   * Absent if there are none.
   */
  readonly filled?: readonly { readonly version: string; readonly rows: number; readonly earlier: number }[]
  /**
   * Applied versions that these files lack: a newer release applied them, or their files were removed. They
   * are not changed.
   */
  readonly ahead: readonly string[]
  /**
   * Versions that these files lack and whose step failed or was interrupted. Absent if there are none. They
   * are not changed: only a rollback, or files that contain them, can repair them.
   */
  readonly dirty?: readonly string[]
}

/**
 * Applies every missing version, in numeric order, up to `to`. A version that failed before runs again first.
 * One host applies the versions. The others wait, and then exit because the schema is up to date.
 *
 * @throws {RangeError} if the files have no version `to`.
 * @throws {DeclarationError} if a file cannot run. Nothing has changed then.
 * @throws {MigrationError} if a file fails, or an applied file was edited.
 */
export async function up(options: ResolvedOptions, to = Infinity): Promise<UpResult> {
  const set = await readSet(options.files, options.engine, options.statementTimeoutMs)
  if (to !== Infinity && !set.migrations.some(({ version }) => version === to))
    throw unknownVersion(to, set.migrations)
  if (set.findings.some(({ level }) => level === 'refuse'))
    refuseBadFiles(
      set,
      await withSession(options, 'read', (session) => settledIn(session, set)).catch(() => () => false),
    )
  return withSession(options, 'change', async (session) => {
    const { rows, working } = await preflight(session, set)
    if (isCurrent(set, rows, to)) return { applied: [], ...unknownTo(set, rows, working !== undefined) }
    return withLock(session, options, () => applyMissing(session, options, set, to))
  })
}

/**
 * Rolls back the last applied version and applies it again from its present file.
 * @throws {RangeError} if these files lack the version. Nothing is rolled back then.
 */
export async function redo(options: ResolvedOptions): Promise<DownResult & UpResult> {
  const { again } = await redone(options)
  if (again === undefined) return { rolledBack: [], applied: [], ahead: [] }
  const { rolledBack } = await down(options)
  return { rolledBack, ...(await up(options, again.version)) }
}

/**
 * Returns the versions that `redo` would roll back. Changes nothing.
 *
 * @throws {RangeError | DeclarationError | MigrationError} like `redo`.
 */
export async function checkRedo(options: ResolvedOptions): Promise<readonly RollBack[]> {
  return (await redone(options)).found
}

async function redone(
  options: ResolvedOptions,
): Promise<{ readonly found: readonly RollBack[]; readonly again: Planned | undefined }> {
  const found = await rollBacks(options)
  const [last] = found
  const set = await readSet(options.files, options.engine, options.statementTimeoutMs)
  const again = set.migrations.find(({ name }) => name === last?.name)
  if (last !== undefined && again === undefined)
    throw refused(RangeError, { kind: 'notOfTheseFiles', version: last.name })
  if (again !== undefined)
    await withSession(options, 'read', (session) => preflight(session, set, again.version))
  return { found, again }
}

async function applyMissing(
  session: Session,
  options: ResolvedOptions,
  set: MigrationSet,
  to: number,
): Promise<UpResult> {
  await session.settle(options.lockTimeoutMs, options.statementTimeoutMs)
  await preflight(session, set)
  await session.makeSchema()
  await makeVersionTable(session)
  await adopt(session, options, set.migrations)
  const rows = await readVersions(session)
  const byVersion = new Map(rows.map((row) => [row.version, row]))
  const applied: string[] = []
  const recorded: string[] = []
  const notRun = new Set(rows.filter(isRecorded).map(({ version }) => version))
  const rowsOf = new Map<string, { readonly rows: number; readonly earlier: number }>()
  const counting: ResolvedOptions = {
    ...options,
    report: (event) => {
      if (event.kind === 'filled') rowsOf.set(event.version, { rows: event.rows, earlier: event.earlier })
      options.report(event)
    },
  }
  for (const migration of set.migrations.filter(({ version }) => version <= to)) {
    const row = byVersion.get(migration.version)
    if (row?.dirty === false) await keepCorrected(session, row, migration)
    else {
      await beforeStep(session, options, 'up', migration)
      const lacksVector = isSearchIndex(migration) && notRun.has(migration.version - 1)
      const end = await applyOrRecord(
        { session, options: counting, migration, all: set.migrations, lacksVector },
        () => apply(session, counting, migration, row),
      )
      if (end === 'applied') applied.push(migration.name)
      if (end !== 'recorded') continue
      recorded.push(migration.name)
      notRun.add(migration.version)
    }
  }
  const filled = [...rowsOf].map(([version, counts]) => ({ version, ...counts }))
  return {
    applied,
    ...(recorded.length > 0 && { recorded }),
    ...(filled.length > 0 && { filled }),
    ...unknownTo(set, rows, false),
  }
}

/**
 * Runs a version's up migration, after recovering from an earlier run. Returns false if the recovery shows
 * that the version is applied.
 */
async function apply(
  session: Session,
  options: ResolvedOptions,
  migration: Planned,
  row: AppliedVersion | undefined,
): Promise<boolean> {
  const started = performance.now()
  const { version, name, file, fill, script, up: sql } = migration
  if (row !== undefined && isGoingDown(row)) {
    const state = await endRollBack(session, options, row, migration)
    if (state === 'applied')
      refuseEdited({ migrations: [migration] }, [{ ...row, dirty: false }], options.engine)
    return state === 'applied' ? false : apply(session, options, migration, undefined)
  }
  const { statements } = script
  options.report({ kind: 'file', direction: 'up', version: name, statements: statements.length })
  const step = {
    session,
    options,
    version,
    name,
    direction: 'up',
    file,
    sql,
    statements,
    backfill: backfillOf(script),
    fill,
  } as const
  if (row !== undefined)
    options.report({ kind: 'recovering', version: name, how: options.engine.resumes(step, row) })
  const done = appliedRow(migration, statements.length)
  await options.engine.up(step, done, row)
  options.report({
    kind: 'done',
    direction: 'up',
    version: name,
    ms: Math.round(performance.now() - started),
  })
  return true
}

/** Stores a corrected down migration of an applied version. An up migration must not be corrected. */
async function keepCorrected(session: Session, row: AppliedVersion, { down }: Planned): Promise<void> {
  if (down !== undefined && down !== row.downSql) await keepDown(session, row.version, down)
}

function isCurrent({ migrations }: MigrationSet, rows: readonly AppliedVersion[], to: number): boolean {
  const byVersion = new Map(rows.map((row) => [row.version, row]))
  return migrations.every(({ version, down }) => {
    const row = byVersion.get(version)
    return version > to || (row?.dirty === false && (down === undefined || down === row.downSql))
  })
}

/**
 * Returns the versions of the database that the files lack.
 *
 * @param isMigrating - true if another session works on the unfinished versions. They then count as ahead,
 * not as dirty.
 */
function unknownTo(
  { migrations }: MigrationSet,
  rows: readonly AppliedVersion[],
  isMigrating: boolean,
): Pick<UpResult, 'ahead' | 'dirty'> {
  const known = new Set(migrations.map(({ version }) => version))
  const isDirty = (row: AppliedVersion) => row.dirty && !(isMigrating && isUnfinished(row))
  const unknown = rows.filter(({ version }) => !known.has(version))
  const dirty = unknown.filter(isDirty).map(({ name }) => name)
  const ahead = unknown.filter((row) => !isDirty(row)).map(({ name }) => name)
  return { ahead, ...(dirty.length > 0 && { dirty }) }
}
