import { DeclarationError, MigrationError } from '../errors.js'
import type { Migration } from './files/migration-files.js'
import { lintDown, toProblem } from './migration-set.js'
import type { ResolvedOptions } from './session/options.js'
import type { Session } from './session/session.js'
import { splitStatements } from './sql/statements.js'
import type { Step } from './session/step.js'
import { type AppliedVersion, deleteVersion, isGoingDown, markVersion } from './session/version-table.js'

/** Rolls one version back. Uses the file where it belongs to what was applied, else the stored SQL. */
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
    options.report({ kind: 'recovering', version, text: 'it failed and left nothing behind: nothing is run' })
    await deleteVersion(session, row.version)
  } else await options.engine.down(step, row)
  options.report({ kind: 'done', direction: 'down', version, ms: Math.round(performance.now() - started) })
}

/**
 * Recovers a version whose rollback was interrupted. Returns the resulting state: `applied`, or `absent` when the
 * rollback had gone too far and was finished.
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
    const text = 'its rollback failed and took nothing away: it stays applied, and nothing is run'
    options.report({ kind: 'recovering', version: row.name, text })
    await markVersion(session, row.version, { dirty: false, statementsDone, error: undefined })
    return 'applied'
  }
  options.report({ kind: 'recovering', version: row.name, text: 'finishes its rollback' })
  await options.engine.finishDown(step, row)
  return 'absent'
}

/** @throws {DeclarationError} when the engine refuses the stored SQL. */
function downStep(
  session: Session,
  options: ResolvedOptions,
  row: AppliedVersion,
  shipped: Migration | undefined,
): Step {
  const sql = downOf(row, shipped)
  const refused = lintDown(row.name, sql, options.engine).filter(({ level }) => level === 'refuse')
  if (refused.length > 0) throw new DeclarationError('migrations', refused.map(toProblem))
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

/** A corrected file takes precedence over the stored SQL, if it belongs to the way up that was applied. */
export function downOf(row: AppliedVersion, shipped: Migration | undefined): string {
  const isSame = row.checksum === undefined || row.dirty || shipped?.checksum === row.checksum
  const sql = (isSame ? shipped?.down : undefined) ?? row.downSql
  if (sql !== undefined) return sql
  throw new MigrationError(
    'dirty',
    `${row.name}: neither the files nor the version table have its way down: add ${row.name}.down.sql`,
    row.name,
  )
}
