import { refuseUnusable, takenOver } from './histories/adopt-history.js'
import { refuseForeign, refuseMoved } from './histories/adopted-head.js'
import { isOfFramework, type Migration } from './files/migration-files.js'
import { declarationError, stopped } from './messages/problem.js'
import { type MigrationSet, refuseBadFiles } from './migration-set.js'
import type { Engine } from './session/engine.js'
import type { Session } from './session/session.js'
import {
  type AppliedVersion,
  isGoingDown,
  readAdopted,
  readVersions,
  readVersionsNow,
  type VersionsNow,
} from './session/version-table.js'

/** The state of the database before a run changes anything. */
export interface Preflight extends VersionsNow {
  /** Returns true if a version will not run anymore. */
  readonly isSettled: (version: number) => boolean
}

/**
 * Rejects files that `up` cannot apply to the database in its present state. Changes nothing, so that a plan
 * can make the same checks.
 *
 * @param without - a version that is rolled back first.
 * @throws {DeclarationError} if files cannot run.
 * @throws {MigrationError} if an applied file was edited, or if another tool migrates the schema.
 */
export async function preflight(session: Session, set: MigrationSet, without?: number): Promise<Preflight> {
  const found = await readVersionsNow(session)
  const now = { ...found, rows: found.rows.filter(({ version }) => version !== without) }
  const isSettled = await settledIn(session, set, now.rows)
  refuseBadFiles(set, isSettled)
  refuseEmpty(set, now.rows)
  await refuseMoved(session, set.migrations)
  await refuseForeign(session, found.rows, set.migrations)
  if (found.rows.length === 0) refuseUnusable(await readAdopted(session), set.migrations)
  const { engine } = session
  refuseEdited(set, now.rows, engine)
  for (const row of now.rows.filter((one) => one.dirty && !isGoingDown(one))) {
    const migration = set.migrations.find(({ version }) => version === row.version)
    if (migration !== undefined)
      engine.refuseResumed({ ...migration, direction: 'up', ...migration.script }, row)
  }
  return { ...now, isSettled }
}

/**
 * Returns a function that is true for versions that will not run anymore, because they are recorded here or
 * by another tool.
 */
export async function settledIn(
  session: Session,
  { migrations }: Pick<MigrationSet, 'migrations'>,
  rows?: readonly AppliedVersion[],
): Promise<(version: number) => boolean> {
  const there = rows ?? (await readVersions(session))
  const adopted = there.length === 0 ? await readAdopted(session) : undefined
  if (adopted === undefined) return (version) => there.some((row) => row.version === version && !row.dirty)
  const taken = await takenOver(session, adopted.version, migrations)
  return (version) => taken.some((one) => one.version === version)
}

/**
 * Rejects a folder without versions of the module if the database has some, because it is then the wrong
 * folder.
 *
 * @throws {DeclarationError}
 */
function refuseEmpty({ subject, migrations }: MigrationSet, rows: readonly AppliedVersion[]): void {
  const names = rows.filter(({ version }) => !isOfFramework(version)).map(({ name }) => name)
  if (names.length === 0 || migrations.some(({ version }) => !isOfFramework(version))) return
  const applied = names.slice(0, MAX_NAMED)
  throw declarationError(subject(), [{ kind: 'emptyFolder', applied, more: names.length - applied.length }])
}

/**
 * Rejects applied files that were edited.
 *
 * @throws {MigrationError} with every applied file that was edited.
 */
export function refuseEdited(
  { migrations }: Pick<MigrationSet, 'migrations'>,
  rows: readonly AppliedVersion[],
  { apart }: Pick<Engine, 'apart'>,
): void {
  const byVersion = new Map(migrations.map((migration) => [migration.version, migration]))
  const files = rows.flatMap(({ version, name, dirty, checksum }) => {
    const file = byVersion.get(version)
    if (dirty || file === undefined || checksum === undefined || file.checksum === checksum) return []
    const sums = { applied: short(checksum), now: short(file.checksum) }
    return { version: name, file: file.file, isRenamed: file.name !== name, ...sums }
  })
  if (files.length > 0) throw stopped('edited', { kind: 'edited', files, apart })
}

/**
 * Rejects a file that has an applied version's number but another name, because its down migration belongs to
 * another version.
 *
 * @throws {MigrationError}
 */
export function refuseOtherNames(
  migrations: readonly Pick<Migration, 'version' | 'name'>[],
  rows: readonly Pick<AppliedVersion, 'version' | 'name'>[],
): void {
  for (const row of rows) {
    const file = migrations.find(({ version }) => version === row.version)
    if (file === undefined || file.name === row.name) continue
    throw stopped('edited', { kind: 'otherName', version: row.name, name: file.name })
  }
}

/** The maximum number of names in a message, so that a truncated message still contains advice. */
const MAX_NAMED = 3

/** Returns the beginning of a checksum, which is sufficient to distinguish two checksums. */
const short = (checksum: string): string => checksum.slice(0, 12)
