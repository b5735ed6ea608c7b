import { DeclarationError, MigrationError } from '../errors.js'
import type { Migration } from './files/migration-files.js'
import { lintDown, toProblem } from './migration-set.js'
import type { Engine } from './session/engine.js'
import type { ResolvedOptions } from './session/options.js'
import { otherWaysDown } from './search/search-versions.js'
import { type BackfillPosition, writtenText } from './session/backfill-position.js'
import type { Session } from './session/session.js'
import { backfillOf } from './sql/backfill.js'
import { splitStatements } from './sql/statements.js'
import type { Step } from './session/step.js'
import {
  type AppliedVersion,
  deleteVersion,
  isGoingDown,
  markVersion,
  readVersions,
} from './session/version-table.js'

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
  } else await runDown(step, row)
  options.report({ kind: 'done', direction: 'down', version, ms: Math.round(performance.now() - started) })
}

/** Runs a way down. That of a stored vector goes to an earlier vector where the columns of the last one are gone. */
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
  const ways = otherWaysDown(row, step.statements, await readVersions(session), syntax)
  for (const [at, sql] of ways.entries()) {
    const text = at === ways.length - 1 ? WITHOUT_VECTOR : EARLIER_VECTOR
    options.report({ kind: 'recovering', version: row.name, text })
    failure = await failureOfMissing({ ...step, sql, statements: splitStatements(sql, syntax).statements })
    if (failure === undefined) return
  }
  throw failure
}

const GONE = 'this way down reads a column that is not there any more, and nothing of it is done'
const EARLIER_VECTOR = `${GONE}: next is the vector before it`
const WITHOUT_VECTOR = `${GONE}: the vector is left out, and the next search version that up applies makes it again`

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
    options.report({ kind: 'recovering', version: row.name, text: ONLY_CLEARS })
    await markVersion(session, row.version, { dirty: false, statementsDone, error: undefined })
    return 'applied'
  }
  options.report({ kind: 'recovering', version: row.name, text: 'finishes its rollback' })
  await options.engine.finishDown(step, row)
  return 'absent'
}

/** @throws {DeclarationError} when the engine refuses the stored SQL. */
export function downStep(
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
function downOf(row: AppliedVersion, shipped: Migration | undefined): string {
  const isSame = row.checksum === undefined || row.dirty || shipped?.checksum === row.checksum
  const sql = (isSame ? shipped?.down : undefined) ?? row.downSql
  if (sql !== undefined) return sql
  throw new MigrationError(
    'dirty',
    `${row.name}: neither the files nor the version table have its way down: add ${row.name}.down.sql`,
    row.name,
  )
}

/** What an earlier run left of a version that is dirty. */
export interface Unfinished {
  readonly direction: 'up' | 'down'
  /** How many statements are recorded as done, and how many there are. None is on PostgreSQL, where a file is undone as a whole. */
  readonly done: number
  readonly of: number
  /** Whether its rollback took nothing away, so that the next `up` only clears the mark. */
  readonly staysApplied: boolean
  /** Rows that a backfill has written, which stay. */
  readonly written?: number
  /** What `down` does with it, in words; undefined for a rollback, of which `text` says it. */
  readonly onDown?: string
  /** What is known beside its error, and what the next run does, in words; undefined where the error says it all. */
  readonly text: string | undefined
}

/** Where a rollback that failed took nothing away. */
export const ONLY_CLEARS = 'its rollback failed and took nothing away; up only clears the mark'

/**
 * By what is recorded alone; undefined for a version that is not dirty.
 * @param position - of its backfill, where it is one that has begun.
 */
export function unfinishedOf(
  row: AppliedVersion,
  engine: Engine,
  position?: BackfillPosition,
): Unfinished | undefined {
  if (!row.dirty) return undefined
  const isDown = isGoingDown(row)
  const done = isDown ? -1 - row.statementsDone : row.statementsDone
  const sql = isDown ? row.downSql : row.upSql
  const of = splitStatements(sql ?? '', engine.syntax).statements.length
  if (!isDown) {
    const progress = done === 0 ? '' : `; ${doneText(done, of)}`
    const end = position?.end === undefined ? '' : `, up to the key '${position.end.join("', '")}'`
    const rows = position === undefined ? '' : `; ${writtenText(position)}${end}`
    const text = row.error === undefined ? `${NO_REPORT}${progress}${rows}` : undefined
    const written = position === undefined ? {} : { written: position.written }
    return { direction: 'up', done, of, staysApplied: false, ...written, onDown: onDown(row, engine), text }
  }
  const isUndone = engine.isKnownUndone(row)
  const text =
    isUndone === false
      ? ONLY_CLEARS
      : isUndone === undefined
        ? 'its rollback stopped: down finishes it; up looks whether it is done, and applies the version again where it is'
        : `its rollback stopped; ${doneText(done, of)}: down finishes it, up finishes it and applies the version again; both ask first where that loses values (--yes)`
  return { direction: 'down', done, of, staysApplied: isUndone === false, text }
}

/** What `down` does with a version whose way up did not end, by what is recorded alone. */
function onDown(row: AppliedVersion, engine: Engine): string {
  try {
    if (engine.leavesNothing(row))
      return `nothing of it is done: ashlar migrate down makes it pending again ${GIVEN_UP}`
  } catch (error) {
    if (!(error instanceof MigrationError)) throw error
    const why = error.message.replace(/^migrations: /, '')
    return `ashlar migrate down refuses it: ${why.startsWith(`${row.name}: `) ? why.slice(row.name.length + 2) : why}`
  }
  if (backfillOf(splitStatements(row.upSql ?? '', engine.syntax)) === undefined)
    return `${engine.mayLeave}; it makes it pending again ${GIVEN_UP}`
  return `of a backfill, ashlar migrate down runs its way down, makes it pending again and forgets how far it was, ${GIVEN_UP}`
}

const GIVEN_UP = 'and touches no other version; then its files can be corrected or deleted'
const NO_REPORT = 'the run ended without a report (process killed, session ended or host lost)'

/** `statement 1 of 3 is done`. */
function doneText(done: number, of: number): string {
  if (done === 0) return `no statement of ${of} is recorded as done`
  return done === 1 ? `statement 1 of ${of} is done` : `statements 1 to ${done} of ${of} are done`
}
