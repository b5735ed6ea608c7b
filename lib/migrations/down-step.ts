import { MigrationError } from '../errors.js'
import type { Migration } from './files/migration-files.js'
import { declarationError, stopped } from './messages/problem.js'
import type { OnDown, Unfinished } from './messages/unfinished.js'
import { lintDown, toProblem } from './migration-set.js'
import type { Engine } from './session/engine.js'
import type { ResolvedOptions } from './session/migrate-options.js'
import { otherDownMigrations } from './search/search-versions.js'
import type { BackfillPosition } from './session/backfill-position.js'
import type { Session } from './session/session.js'
import { backfillOf } from './sql/backfill.js'
import { splitStatements } from './sql/split-statements.js'
import type { Step } from './session/step.js'
import {
  type AppliedVersion,
  deleteVersion,
  isGoingDown,
  markVersion,
  readVersions,
} from './session/version-table.js'

/**
 * Rolls back one version with its file, or with the stored SQL if the file does not belong to the applied
 * version.
 */
export async function rollBack(
  session: Session,
  options: ResolvedOptions,
  row: AppliedVersion,
  shipped: Migration | undefined,
): Promise<void> {
  const started = performance.now()
  const step = downStep(session, options, row, shipped)
  const { name: version, statements } = step
  options.report({ kind: 'file', direction: 'down', version, statements: statements.length })
  if (row.dirty && !isGoingDown(row) && (await options.engine.isNeverApplied(step, row))) {
    options.report({ kind: 'recovering', version, how: { kind: 'leftNothing' } })
    await deleteVersion(session, row.version)
  } else await runDown(step, row)
  options.report({ kind: 'done', direction: 'down', version, ms: Math.round(performance.now() - started) })
}

/**
 * Runs a down migration. If a column of its search vector no longer exists, tries the vectors of earlier
 * versions, and finally no vector.
 */
async function runDown(step: Step, row: AppliedVersion): Promise<void> {
  const { session, options } = step
  const { syntax, failures } = options.engine
  const failureOfMissing = async (way: Step): Promise<MigrationError | undefined> => {
    try {
      return void (await options.engine.down(way, row))
    } catch (error) {
      if (error instanceof MigrationError && failures.missing.includes(error.sqlState ?? '')) return error
      throw error
    }
  }
  let failure = await failureOfMissing(step)
  if (failure === undefined) return
  const ways = otherDownMigrations(row, step.statements, await readVersions(session), syntax)
  for (const [at, sql] of ways.entries()) {
    const kind = at === ways.length - 1 ? 'withoutVector' : 'earlierVector'
    options.report({ kind: 'recovering', version: row.name, how: { kind } })
    failure = await failureOfMissing({ ...step, sql, statements: splitStatements(sql, syntax).statements })
    if (failure === undefined) return
  }
  throw failure
}

/**
 * Recovers a version whose rollback was interrupted. If the rollback had removed nothing, returns `applied`.
 * Otherwise finishes it and returns `absent`.
 */
export async function endRollBack(
  session: Session,
  options: ResolvedOptions,
  row: AppliedVersion,
  shipped: Migration,
): Promise<'applied' | 'absent'> {
  const step = downStep(session, options, row, shipped)
  if (!(await options.engine.isUndone(step, row))) {
    const statementsDone = splitStatements(row.upSql ?? '', options.engine.syntax).statements.length
    options.report({ kind: 'recovering', version: row.name, how: { kind: 'clearsMark' } })
    await markVersion(session, row.version, { dirty: false, statementsDone, error: undefined })
    return 'applied'
  }
  options.report({ kind: 'recovering', version: row.name, how: { kind: 'finishesRollBack' } })
  await options.engine.finishDown(step, row)
  return 'absent'
}

/**
 * Returns the step that rolls back a version.
 *
 * @throws {DeclarationError} if the engine rejects the stored SQL.
 */
export function downStep(
  session: Session,
  options: ResolvedOptions,
  row: AppliedVersion,
  shipped: Migration | undefined,
): Step {
  const sql = downOf(row, shipped)
  const refused = lintDown(row.name, sql, options.engine).filter(({ level }) => level === 'refuse')
  if (refused.length > 0) throw declarationError('migrations', refused.map(toProblem))
  const { statements } = splitStatements(sql, options.engine.syntax)
  const { version, name } = row
  return {
    session,
    options,
    version,
    name,
    direction: 'down',
    file: `${name}.down.sql`,
    sql,
    statements,
    backfill: undefined,
    fill: undefined,
  }
}

/**
 * Returns the SQL of a down migration. A corrected file takes precedence over the stored SQL if it belongs to
 * the applied up migration.
 */
function downOf(row: AppliedVersion, shipped: Migration | undefined): string {
  const isSame = row.checksum === undefined || row.dirty || shipped?.checksum === row.checksum
  const sql = (isSame ? shipped?.down : undefined) ?? row.downSql
  if (sql !== undefined) return sql
  throw stopped('dirty', { kind: 'noDownMigration', version: row.name })
}

/**
 * Returns the recorded state of an unfinished version, or undefined if the version is not dirty.
 *
 * @param position - the position of a backfill that has begun.
 */
export function unfinishedOf(
  row: AppliedVersion,
  engine: Engine,
  position?: BackfillPosition,
): Unfinished | undefined {
  if (!row.dirty) return undefined
  const isDown = isGoingDown(row)
  const sql = isDown ? row.downSql : row.upSql
  const isUndone = isDown ? engine.isKnownUndone(row) : true
  return {
    direction: isDown ? 'down' : 'up',
    done: isDown ? -1 - row.statementsDone : row.statementsDone,
    of: splitStatements(sql ?? '', engine.syntax).statements.length,
    staysApplied: isUndone === false,
    isUnknown: isUndone === undefined,
    isReported: row.error !== undefined,
    ...(!isDown && { onDown: onDown(row, engine) }),
    ...(!isDown && position !== undefined && { written: position.written }),
    ...(!isDown && position?.end !== undefined && { end: position.end }),
  }
}

/** Returns the effect of `down` on a version whose up migration did not finish, according to its record. */
function onDown(row: AppliedVersion, engine: Engine): OnDown {
  try {
    if (engine.leavesNothing(row)) return { kind: 'clears' }
  } catch (error) {
    if (!(error instanceof MigrationError)) throw error
    return { kind: 'refuses', problem: error.problem }
  }
  const isBackfill = backfillOf(splitStatements(row.upSql ?? '', engine.syntax)) !== undefined
  return { kind: isBackfill ? 'forgetsChunks' : engine.mayLeave }
}
