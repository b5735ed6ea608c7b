import { MigrationError } from '../errors.js'
import { beforeStep } from './session/step.js'
import { isOfFramework, isUpgrade } from './files/migration-files.js'
import { BACKFILL_TABLE } from './files/framework-tables.js'
import { allowedRules } from './lint/lint-file.js'
import { refused, stoppedAgain } from './messages/problem.js'
import { readSet } from './migration-set.js'
import { BREAKING } from './messages/lint-messages.js'
import { withSession } from './session/session.js'
import { refuseOtherNames } from './preflight.js'
import { downStep, rollBack } from './down-step.js'
import { readPosition } from './session/backfill-position.js'
import { type Loss, lossesOf } from './session/effect.js'
import { withLock } from './session/lock.js'
import type { ResolvedOptions } from './session/migrate-options.js'
import type { Session } from './session/session.js'
import { type AppliedVersion, isGoingDown, isRecorded, readVersions } from './session/version-table.js'
import { backfillOf } from './sql/backfill.js'
import { type Lost, notBroughtBack } from './sql/losses.js'
import { isWord } from './sql/cursor.js'
import { splitStatements, type Statement } from './sql/split-statements.js'

/** The result of `down`. */
export interface DownResult {
  /** The versions that this run rolled back, in order. */
  readonly rolledBack: readonly string[]
}

/**
 * Rolls back every version above `to`, the last applied first; 0 rolls everything back. Without `to`, rolls
 * back only the last applied version. Ashlar's first version remains unless `to` is 0. The upgrades of its
 * tables remain unless `to` is 0 or one of these upgrades.
 *
 * @throws {RangeError} if `to` is neither 0 nor an applied version.
 * @throws {MigrationError} with the versions that were rolled back before the failure and those that were
 *   not.
 */
export async function down(options: ResolvedOptions, to?: number): Promise<DownResult> {
  const { migrations } = await readSet(options.files, options.engine, options.statementTimeoutMs)
  const shipped = new Map(migrations.map((migration) => [migration.version, migration]))
  return withSession(options, 'change', (session) =>
    withLock(session, options, async () => {
      const rows = await readVersions(session)
      refuseOtherNames(migrations, rows)
      const above = rowsAbove(rows, to)
      const names = above.map(({ name }) => name)
      for (const [at, row] of above.entries())
        try {
          await beforeStep(session, options, 'down', row)
          await rollBack(session, options, row, shipped.get(row.version))
        } catch (error) {
          throw stoppedAt(error, names, at, to)
        }
      return { rolledBack: names }
    }),
  )
}

/** Adds to a version's error which other versions are rolled back and which are not. */
function stoppedAt(error: unknown, names: readonly string[], at: number, to: number | undefined): unknown {
  if (!(error instanceof MigrationError) || names.length < 2) return error
  return stoppedAgain(error, {
    kind: 'rollBackStopped',
    cause: error.problem,
    rolledBack: names.slice(0, at),
    left: names.slice(at),
    to: to ?? 0,
  })
}

/** A version that `down` would roll back. */
export interface RollBack {
  readonly version: number
  /** The version's name, such as `0002_widgets`. */
  readonly name: string
  /** True if its files are Ashlar's. */
  readonly isFramework: boolean
  /** The data that its down migration removes. Empty for a version that failed and left nothing behind. */
  readonly loses: readonly Loss[]
  /**
   * The data that its up migration removed and its down migration does not restore: columns and tables are
   * created again without their values. Empty for a version that was recorded without running it.
   */
  readonly staysLost: readonly Lost[]
  /**
   * Set if its down migration has no statements. `made`: the objects that it created remain. `written`: the
   * rows that it wrote remain, and `up` would write them again.
   */
  readonly staysDone: 'made' | 'written' | undefined
  /**
   * True if its file accepts breaking older code, and lower versions of the module remain that may be parts
   * of the same change.
   */
  readonly mayLeaveContract: boolean
  /** Versions of the module with a higher number that stay, because they were applied before it. */
  readonly appliedBefore: readonly string[]
  /**
   * Set for a backfill: its position is discarded, so that `up` starts again at the first row. `written` is
   * the number of rows that an unfinished backfill has written.
   */
  readonly refills: { readonly written: number | undefined } | undefined
}

/**
 * Returns the versions that `down` would roll back. Changes nothing.
 *
 * @throws {RangeError | MigrationError} like `down`.
 */
export async function rollBacks(options: ResolvedOptions, to?: number): Promise<readonly RollBack[]> {
  const { migrations } = await readSet(options.files, options.engine, options.statementTimeoutMs)
  const shipped = new Map(migrations.map((migration) => [migration.version, migration]))
  return withSession(options, 'read', async (session) => {
    const rows = await readVersions(session)
    refuseOtherNames(migrations, rows)
    const above = rowsAbove(rows, to)
    const found: RollBack[] = []
    for (const row of above) {
      const shippedNow = shipped.get(row.version)
      const { statements } = downStep(session, options, row, shippedNow)
      const up = splitStatements(row.upSql ?? shippedNow?.up ?? '', session.engine.syntax)
      const leavesNothing = row.dirty && !isGoingDown(row) && options.engine.leavesNothing(row)
      const hasNoWay = !leavesNothing && statements.length === 0 && backfillOf(up) === undefined
      found.push({
        version: row.version,
        name: row.name,
        isFramework: isOfFramework(row.version),
        loses: leavesNothing ? [] : await lossesOf(session, statements),
        staysLost: leavesNothing || isRecorded(row) ? [] : notBroughtBack(up.statements, statements),
        refills: backfillOf(up) && { written: row.dirty ? await writtenBy(session, row.version) : undefined },
        staysDone: hasNoWay ? (up.statements.some(writesRows) ? 'written' : 'made') : undefined,
        mayLeaveContract: !leavesNothing && isContract(up.comments) && rows.some(staysBelow(row, above)),
        appliedBefore: rows
          .filter((other) => other.version > row.version && !isOfFramework(other.version))
          .filter((other) => !above.includes(other))
          .map(({ name }) => name),
      })
    }
    return found
  })
}

function isContract(comments: readonly string[]): boolean {
  const allowed = allowedRules(comments)
  return Object.keys(BREAKING).some((name) => allowed.has(name))
}

const staysBelow =
  (row: AppliedVersion, above: readonly AppliedVersion[]) =>
  (other: AppliedVersion): boolean =>
    other.version < row.version && !isOfFramework(other.version) && !above.includes(other)

/** Returns true if a statement writes rows, so that running it twice is not an error. */
const writesRows = ({ tokens: [first] }: Statement): boolean =>
  ['UPDATE', 'INSERT', 'DELETE', 'REPLACE', 'MERGE', 'WITH'].some((verb) => isWord(first, verb))

/** Returns the number of rows that an unfinished backfill has written. */
async function writtenBy(session: Session, version: number): Promise<number> {
  return (await session.hasTable(BACKFILL_TABLE)) ? ((await readPosition(session, version))?.written ?? 0) : 0
}

/** Returns the versions to roll back, the last applied first. */
function rowsAbove(rows: readonly AppliedVersion[], to: number | undefined): readonly AppliedVersion[] {
  const latest = [...rows].reverse()
  if (to === undefined) return latest.filter(({ version }) => !isOfFramework(version)).slice(0, 1)
  if (to !== 0 && !rows.some(({ version }) => version === to))
    throw refused(RangeError, {
      kind: 'notApplied',
      number: to,
      applied: rows.map(({ version }) => version),
    })
  const takesUpgrades = to === 0 || isUpgrade(to)
  return latest.filter(({ version }) => version > to && (takesUpgrades || !isUpgrade(version)))
}
