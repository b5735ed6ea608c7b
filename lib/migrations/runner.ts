import { MigrationError } from '../errors.js'
import { adopt } from './histories/adopt.js'
import { refuseMoved } from './histories/adopted-head.js'
import { refuseForeign } from './histories/foreign.js'
import {
  isOfFramework,
  toFileNumber,
  toFileNumbers,
  unknownVersion,
  UPGRADES,
} from './files/migration-files.js'
import { withLock } from './session/lock.js'
import { type MigrationSet, type Planned, readSet, refuseBadFiles } from './migration-set.js'
import { withSession } from './open-session.js'
import type { ResolvedOptions } from './session/options.js'
import { type Lost, lostBy } from './sql/losses.js'
import type { TableSize } from './session/effect.js'
import { splitStatements } from './sql/statements.js'
import { backfillOf } from './sql/backfill.js'
import { downOf, endRollBack, rollBack } from './recover.js'
import type { Session } from './session/session.js'
import {
  type AppliedVersion,
  appliedRow,
  isGoingDown,
  isUnfinished,
  keepDown,
  makeVersionTable,
  readAdopted,
  readVersions,
  readVersionsNow,
} from './session/version-table.js'

/** What `up` has applied. */
export interface UpResult {
  /** Versions this run applied, in order. */
  readonly applied: readonly string[]
  /** Versions of the database that these files lack. A newer image applied them; they are not changed. */
  readonly ahead: readonly string[]
  /**
   * Versions that these files lack and whose step failed or was interrupted; absent when there are none. They are not
   * changed either: only files that have them, or a rollback, can repair them.
   */
  readonly dirty?: readonly string[]
}

/** What `down` has reverted. */
export interface DownResult {
  /** Versions this run rolled back, in order. */
  readonly rolledBack: readonly string[]
}

/**
 * Applies every missing version, in numeric order, up to `to`. A version that failed before runs again before all later
 * ones. One host works while the others wait and then find nothing left to do.
 * @throws {RangeError} when the files have no version `to`.
 * @throws {DeclarationError} for files that cannot be run, before anything is changed.
 * @throws {MigrationError} when a file fails, or an applied file was edited.
 */
export async function up(options: ResolvedOptions, to = Infinity): Promise<UpResult> {
  const set = await readSet(options.files, options.engine, options.statementTimeoutMs)
  if (to !== Infinity && !set.migrations.some(({ version }) => version === to))
    throw unknownVersion(to, set.migrations)
  if (set.findings.some(({ level }) => level === 'refuse'))
    refuseBadFiles(set, await withSession(options, 'read', settledIn).catch(() => () => false))
  return withSession(options, 'change', async (session) => {
    await refuseMoved(
      session,
      set.migrations.map(({ script }) => script),
    )
    const { rows, isMigrating } = await readVersionsNow(session)
    if (isCurrent(set, rows, to)) return { applied: [], ...unknownTo(set, rows, isMigrating) }
    return withLock(session, options, () => applyMissing(session, options, set, to))
  })
}

/**
 * Rolls back every version above `to`, the last applied first; 0 rolls everything back. Without `to` only the last applied
 * one. The upgrades of the framework's own tables stay, as their first version does, unless `to` is 0 or one of them.
 * @throws {RangeError} when `to` is neither 0 nor an applied version.
 */
export async function down(options: ResolvedOptions, to?: number): Promise<DownResult> {
  const { migrations } = await readSet(options.files, options.engine, options.statementTimeoutMs)
  const shipped = new Map(migrations.map((migration) => [migration.version, migration]))
  return withSession(options, 'change', (session) =>
    withLock(session, options, async () => {
      const above = rowsAbove(await readVersions(session), to)
      for (const row of above) {
        await beforeStep(session, options, row.name)
        await rollBack(session, options, row, shipped.get(row.version))
      }
      return { rolledBack: above.map(({ name }) => name) }
    }),
  )
}

/** A version that `down` would roll back. */
export interface RollBack {
  /** `0002_widgets`. */
  readonly name: string
  /** Whether its files are those of the framework. */
  readonly isFramework: boolean
  /** What its way down takes away for good. Nothing for a version that failed and left nothing behind. */
  readonly loses: readonly Loss[]
}

/** Values that a way down takes away, and how large their table is. */
export interface Loss extends Lost {
  /** As far as the server has counted; undefined where it does not have the table. */
  readonly size: TableSize | undefined
}

/**
 * What `down` would roll back. Changes nothing.
 * @throws {RangeError | MigrationError} as `down` does.
 */
export async function rollBacks(options: ResolvedOptions, to?: number): Promise<readonly RollBack[]> {
  const { migrations } = await readSet(options.files, options.engine, options.statementTimeoutMs)
  const shipped = new Map(migrations.map((migration) => [migration.version, migration]))
  return withSession(options, 'read', async (session) => {
    const found: RollBack[] = []
    for (const row of rowsAbove(await readVersions(session), to)) {
      const sql = downOf(row, shipped.get(row.version))
      const leavesNothing = row.dirty && !isGoingDown(row) && options.engine.leavesNothing(row)
      found.push({
        name: row.name,
        isFramework: isOfFramework(row.version),
        loses: leavesNothing ? [] : await lossesIn(session, sql),
      })
    }
    return found
  })
}

async function lossesIn(session: Session, sql: string): Promise<readonly Loss[]> {
  const { syntax, effects } = session.engine
  const lost = splitStatements(sql, syntax).statements.flatMap(lostBy)
  const losses: Loss[] = []
  for (const one of new Map(lost.map((each) => [JSON.stringify(each), each])).values()) {
    const size = one.table === undefined ? undefined : await effects.sizeOf(session, one.table.split('.'))
    losses.push({ ...one, size })
  }
  return losses
}

/** The versions that are rolled back, the last applied first. */
function rowsAbove(rows: readonly AppliedVersion[], to: number | undefined): readonly AppliedVersion[] {
  const latest = [...rows].reverse()
  if (to === undefined) return latest.filter(({ version }) => !isOfFramework(version)).slice(0, 1)
  if (to !== 0 && !rows.some(({ version }) => version === to))
    throw new RangeError(
      `migrations: ${toFileNumber(to)} is not an applied version (applied: ${toFileNumbers(rows.map(({ version }) => version)) || 'none'}); 0 rolls everything back`,
    )
  const takesUpgrades = to === 0 || isUpgrade(to)
  return latest.filter(({ version }) => version > to && (takesUpgrades || !isUpgrade(version)))
}

/**
 * Rolls the last applied version back and applies it again, as its file is now.
 * @throws {RangeError} when these files do not have it: then nothing is rolled back.
 */
export async function redo(options: ResolvedOptions): Promise<DownResult & UpResult> {
  const [last] = await rollBacks(options)
  const { migrations } = await readSet(options.files, options.engine, options.statementTimeoutMs)
  const again = migrations.find(({ name }) => name === last?.name)
  if (last !== undefined && again === undefined)
    throw new RangeError(`migrations: ${last.name} was applied last, and these files do not have it`)
  if (again === undefined) return { rolledBack: [], applied: [], ahead: [] }
  const { rolledBack } = await down(options)
  return { rolledBack, ...(await up(options, again.version)) }
}

const isUpgrade = (version: number): boolean => version >= UPGRADES.first && version <= UPGRADES.last

async function applyMissing(
  session: Session,
  options: ResolvedOptions,
  set: MigrationSet,
  to: number,
): Promise<UpResult> {
  await session.settle(options.lockTimeoutMs, options.statementTimeoutMs)
  await refuseForeign(session, await readVersions(session))
  await session.makeSchema()
  await makeVersionTable(session)
  await adopt(session, options, set.migrations)
  const rows = await readVersions(session)
  refuseEdited(set, rows)
  refuseBadFiles(set, settledAmong(rows))
  const byVersion = new Map(rows.map((row) => [row.version, row]))
  const applied: string[] = []
  for (const migration of set.migrations.filter(({ version }) => version <= to)) {
    const row = byVersion.get(migration.version)
    if (row?.dirty === false) await keepCorrected(session, row, migration)
    else {
      await beforeStep(session, options, migration.name)
      if (await apply(session, options, migration, row)) applied.push(migration.name)
    }
  }
  return { applied, ...unknownTo(set, rows, false) }
}

/** Runs a version's way up, after recovering from an earlier run. False when the version turned out to be applied. */
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
    if (state === 'applied') refuseEdited({ migrations: [migration] }, [{ ...row, dirty: false }])
    return state === 'applied' ? false : apply(session, options, migration, undefined)
  }
  const { statements } = script
  options.report({ kind: 'file', direction: 'up', version: name, statements: statements.length })
  if (row !== undefined)
    options.report({ kind: 'recovering', version: name, text: 'runs it again after it failed' })
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

const settledAmong =
  (rows: readonly AppliedVersion[]) =>
  (version: number): boolean =>
    rows.some((row) => row.version === version && !row.dirty)

async function settledIn(session: Session): Promise<(version: number) => boolean> {
  const rows = await readVersions(session)
  const adopted = rows.length === 0 ? await readAdopted(session) : undefined
  return adopted === undefined ? settledAmong(rows) : (version) => version <= adopted.version
}

async function beforeStep(session: Session, { signal }: ResolvedOptions, name: string): Promise<void> {
  if (signal?.aborted === true)
    throw new MigrationError('cancelled', `cancelled before ${name}: what stands before it is done`, name)
  await session.guard()
}

/** After a version is applied, its way down may be corrected; its way up may not. */
async function keepCorrected(session: Session, row: AppliedVersion, { down }: Planned): Promise<void> {
  if (down !== undefined && down !== row.downSql) await keepDown(session, row.version, down)
}

function isCurrent({ migrations }: MigrationSet, rows: readonly AppliedVersion[], to: number): boolean {
  refuseEdited({ migrations }, rows)
  const byVersion = new Map(rows.map((row) => [row.version, row]))
  return migrations.every(({ version, down }) => {
    const row = byVersion.get(version)
    return version > to || (row?.dirty === false && (down === undefined || down === row.downSql))
  })
}

/**
 * @param isMigrating - whether another session works on the unfinished versions: then they are ahead, and not dirty.
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

/** @throws {MigrationError} with both checksums of every applied file that was edited. */
function refuseEdited(
  { migrations }: Pick<MigrationSet, 'migrations'>,
  rows: readonly AppliedVersion[],
): void {
  const byVersion = new Map(migrations.map((migration) => [migration.version, migration]))
  const edited = rows.flatMap(({ version, dirty, checksum }) => {
    const file = byVersion.get(version)
    if (dirty || file === undefined || checksum === undefined || file.checksum === checksum) return []
    return [`${file.file} was edited after it was applied (applied ${checksum}, now ${file.checksum})`]
  })
  if (edited.length > 0)
    throw new MigrationError(
      'edited',
      `${edited.join('; ')}: put back what it said and make the change in a new file; ashlar migrate repair shows the edit, and can accept it. ` +
        'If another module migrates this schema, give each module a schema of its own',
    )
}
