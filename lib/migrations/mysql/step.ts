import { MigrationError } from '../../errors.js'
import { VERSION_TABLE } from '../files/names.js'
import { mysqlSyntax } from './sql/syntax.js'
import type { Engine } from '../session/engine.js'
import { endBackfill, fillRows, ROWS_STAY } from '../session/backfill.js'
import { SessionError } from '../session/session-error.js'
import { splitStatements, type Statement } from '../sql/statements.js'
import { endOf, failureOf, NOTHING_DONE, type Remains, send, type Step } from '../session/step.js'
import {
  type AppliedVersion,
  deleteVersion,
  isGoingDown,
  keepDown,
  markApplied,
  markVersion,
  type VersionRow,
  writeVersion,
} from '../session/version-table.js'

/**
 * Error codes for a statement that was already done: the table, column or key exists, or is gone. They are accepted
 * only for the first statement after a run that ended without a report, because only that one may have run without being recorded.
 */
const DONE_ALREADY = ['1050', '1051', '1060', '1061', '1091']

/**
 * Applies a version statement by statement. MySQL commits DDL by itself, so the row records how many statements are
 * done. Other statements commit together with that number.
 */
export async function upOnMysql(step: Step, row: VersionRow, previous?: AppliedVersion): Promise<void> {
  const { session, version, statements } = step
  const done = previous?.statementsDone ?? 0
  if (previous !== undefined) sameBeginning(step, previous.upSql, done)
  await writeVersion(session, { ...row, dirty: true, statementsDone: done })
  await runFrom(step, done, previous)
  await markApplied(session, version, statements.length)
  if (step.backfill !== undefined) await endBackfill(step)
}

/** Rolls a version back in the same way. The caller checks whether its way up was finished. */
export async function downOnMysql(step: Step, previous: AppliedVersion): Promise<void> {
  const { session, version } = step
  const isResumed = isGoingDown(previous)
  const done = isResumed ? -1 - previous.statementsDone : 0
  if (isResumed) {
    sameBeginning(step, previous.downSql, done)
    step.options.report({ kind: 'recovering', version: step.name, text: resumes(step, previous) })
  }
  if (step.sql !== previous.downSql) await keepDown(session, version, step.sql)
  await markVersion(session, version, { dirty: true, statementsDone: -1 - done, error: undefined })
  await runFrom(step, done, previous.dirty ? previous : undefined)
  await deleteVersion(session, version)
}

/** @param unfinished - what an earlier run left behind. */
async function runFrom(step: Step, first: number, unfinished: AppliedVersion | undefined): Promise<void> {
  const { session, options, version, statements, direction } = step
  const mayBeDone = unfinished !== undefined && isUnknown(unfinished)
  const mark = (done: number, error?: string) =>
    markVersion(session, version, {
      dirty: true,
      statementsDone: direction === 'up' ? done : -1 - done,
      error,
    })
  // A way down that undoes nothing of a way up that did not end leaves the row as it was: the version never was applied.
  const markFailed = (done: number, error: string) =>
    direction === 'down' && done === 0 && unfinished !== undefined && !isGoingDown(unfinished)
      ? markVersion(session, version, { dirty: true, statementsDone: unfinished.statementsDone, error })
      : mark(done, error)
  await session.settle(options.lockTimeoutMs, options.statementTimeoutMs)
  for (let at = first; at < statements.length; at++)
    try {
      if (step.backfill !== undefined) await fillRows(step, unfinished !== undefined)
      await session.run('START TRANSACTION', options.statementTimeoutMs)
      if (step.backfill === undefined)
        await send(step, at, options.statementTimeoutMs).catch((error: unknown) => {
          const code = error instanceof SessionError ? error.code : ''
          if (!(mayBeDone && at === first && DONE_ALREADY.includes(code))) throw error
          const text = `statement ${at + 1} was done when the last run ended`
          options.report({ kind: 'recovering', version: step.name, text })
        })
      await mark(at + 1)
      await session.run('COMMIT', options.statementTimeoutMs)
    } catch (error) {
      const remains = mayBeDone && at === first ? unknownRemains(at) : remainsOf(at)
      const failure = failureOf(step, at, error, step.backfill !== undefined ? ROWS_STAY : remains)
      await session
        .run('ROLLBACK', options.statementTimeoutMs)
        .then(() => markFailed(at, failure.message))
        .catch(() => undefined)
      throw failure
    }
}

const remainsOf = (done: number): Remains =>
  done === 0
    ? NOTHING_DONE
    : {
        stays: `S${doneBefore(done).slice(1)} done and ${done === 1 ? 'stays' : 'stay'}, because MySQL commits each statement by itself`,
        correct: `correct the file from statement ${done + 1} on`,
      }

/** The same text says later that it is unknown: the version table has no column for it. */
const MAY_BE_DONE = 'may be done all the same, because a run before this one ended without a report'

/** Of the statement at which a run ended without a report: the error of a later run does not tell that it was not done. */
const unknownRemains = (done: number): Remains => ({
  stays: `Statement ${done + 1} ${MAY_BE_DONE}`,
  correct: 'look whether it is, correct the file',
})

/** Whether the statement at which the last run stopped may be done. */
export const isUnknown = ({ error }: AppliedVersion): boolean =>
  error === undefined || error.includes(MAY_BE_DONE)

/** What of a version is done whose step did not end, and where the next run goes on. */
export function resumes({ statements, backfill }: Step, row: AppliedVersion): string {
  const done = isGoingDown(row) ? -1 - row.statementsDone : row.statementsDone
  const mayBeDone = isUnknown(row)
  const end = row.error === undefined ? 'its last run' : 'a run of it'
  const next = `statement ${done + 1} of ${statements.length}`
  if (backfill !== undefined) return endOf(row)
  const nothing = mayBeDone ? 'nothing before it was done' : 'nothing of the file is done'
  const there = done === 0 ? nothing : `${doneBefore(done)} done and ${done === 1 ? 'stays' : 'stay'}`
  if (done > 0 && done >= statements.length)
    return `${endOf(row)}, and ${doneBefore(done)} done: the file has no more statements, and nothing is run`
  return mayBeDone
    ? `${end} ended without a report at ${next}, and ${there}: runs that statement again, and takes an error that says it is done already for success`
    : `${endOf(row)} at ${next}, and ${there}: goes on with that statement`
}

/** @throws {MigrationError} when the file of a version that failed no longer begins with the statements that are done. */
export const refuseResumed: Engine['refuseResumed'] = (step, row) =>
  isGoingDown(row)
    ? sameBeginning(step, row.downSql, -1 - row.statementsDone)
    : sameBeginning(step, row.upSql, row.statementsDone)

/** `statements 1 to 2 are`. */
export const doneBefore = (done: number): string =>
  done === 1 ? 'statement 1 is' : `statements 1 to ${done} are`

/** @throws {MigrationError} when the file no longer begins with the statements that are done. */
function sameBeginning(
  { version, name, direction, statements }: Pick<Step, 'version' | 'name' | 'direction' | 'statements'>,
  then: string | undefined,
  done: number,
): void {
  const text = ({ text }: Statement) => text
  const before = splitStatements(then ?? '', mysqlSyntax)
    .statements.slice(0, done)
    .map(text)
  const now = statements.slice(0, done).map(text)
  const edited = Array.from({ length: done }, (_, at) => at).find((at) => before[at] !== now[at])
  if (edited === undefined) return
  const column = direction === 'up' ? 'up_sql' : 'down_sql'
  throw new MigrationError(
    'dirty',
    `${name}.${direction}.sql: ${doneBefore(done)} done, which MySQL cannot undo, and statement ${edited + 1} was edited since: ` +
      `put back what ${column} of version ${version} in ${VERSION_TABLE} has there, and correct the file from statement ${done + 1} on`,
    name,
  )
}
