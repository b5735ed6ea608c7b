import { VERSION_TABLE } from '../files/framework-tables.js'
import { isUpgrade } from '../files/migration-files.js'
import { mysqlSyntax } from './sql/syntax.js'
import type { Engine } from '../session/engine.js'
import { stopped } from '../messages/problem.js'
import type { Recovery } from '../messages/recoveries.js'
import type { Remains } from '../messages/remains.js'
import { endBackfill, fillRows } from '../session/fill-rows.js'
import { SessionError } from '../session/session-error.js'
import { splitStatements, type Statement } from '../sql/split-statements.js'
import { endOf, failureOf, send, type Step, storedText } from '../session/step.js'
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
 * The errors of a statement that was already executed: the table, column or key exists, or no longer exists.
 * They are accepted only for the first statement after a run that ended without a report, because only this
 * statement may have run without being recorded.
 */
const DONE_ALREADY = ['1050', '1051', '1060', '1061', '1091']

/**
 * The errors for an existing column or key. MySQL has no ADD COLUMN IF NOT EXISTS, so an upgrade of Ashlar's
 * tables adds a column that may exist in a separate statement.
 */
const EXISTS_ALREADY = ['1060', '1061']

/**
 * Applies a version statement by statement. MySQL commits DDL implicitly, so the version's row records the
 * number of completed statements. Other statements commit together with this number.
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

/** Rolls back a version in the same way. The caller checks that its up migration was finished. */
export async function downOnMysql(step: Step, previous: AppliedVersion): Promise<void> {
  const { session, version } = step
  const isResumed = isGoingDown(previous)
  const done = isResumed ? -1 - previous.statementsDone : 0
  if (isResumed) {
    sameBeginning(step, previous.downSql, done)
    step.options.report({ kind: 'recovering', version: step.name, how: resumes(step, previous) })
  }
  if (step.sql !== previous.downSql) await keepDown(session, version, step.sql)
  await markVersion(session, version, { dirty: true, statementsDone: -1 - done, error: undefined })
  await runFrom(step, done, previous.dirty ? previous : undefined)
  await deleteVersion(session, version)
}

/**
 * Runs the statements of a step, starting with the given one.
 *
 * @param unfinished - the state that an earlier run left.
 */
async function runFrom(step: Step, first: number, unfinished: AppliedVersion | undefined): Promise<void> {
  const { session, options, version, statements, direction } = step
  const mayBeDone = unfinished !== undefined && isUnknown(unfinished)
  const mark = (done: number, error?: string) =>
    markVersion(session, version, {
      dirty: true,
      statementsDone: direction === 'up' ? done : -1 - done,
      error,
    })
  // If a down migration undoes nothing of an unfinished up migration, the row does not change, because the
  // version was never applied.
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
          if (isUpgrade(version) && direction === 'up' && EXISTS_ALREADY.includes(code)) return
          if (!(mayBeDone && at === first && DONE_ALREADY.includes(code))) throw error
          const how = { kind: 'statementDone', statement: at + 1 } as const
          options.report({ kind: 'recovering', version: step.name, how })
        })
      await mark(at + 1)
      await session.run('COMMIT', options.statementTimeoutMs)
    } catch (error) {
      const remains = step.backfill === undefined ? remainsOf(at, mayBeDone && at === first) : CHUNKS
      const failure = failureOf(step, at, error, remains)
      await session
        .run('ROLLBACK', options.statementTimeoutMs)
        .then(() => markFailed(at, storedText(failure)))
        .catch(() => undefined)
      throw failure
    }
}

const CHUNKS: Remains = { kind: 'chunks' }

/**
 * Returns the state that a failed step leaves.
 *
 * @param mayBeDone - true if an earlier run ended at this statement without a report. The error of a later
 * run does not prove that the statement was not executed.
 */
function remainsOf(done: number, mayBeDone: boolean): Remains {
  if (mayBeDone) return { kind: 'mayBeDone', statement: done + 1 }
  return done === 0 ? { kind: 'nothing' } : { kind: 'statements', done }
}

/** Returns true if the statement at which the last run stopped may have been executed. */
export const isUnknown = ({ error, marks }: AppliedVersion): boolean =>
  error === undefined || marks?.mayBeDone === true

/** Returns the completed part of an unfinished version, and where the next run continues. */
export function resumes({ statements, backfill }: Step, row: AppliedVersion): Recovery {
  const end = endOf(row)
  if (backfill !== undefined) return { kind: 'resumesChunks', end }
  const done = isGoingDown(row) ? -1 - row.statementsDone : row.statementsDone
  const isLast = row.error === undefined
  return { kind: 'goesOnWith', end, done, of: statements.length, mayBeDone: isUnknown(row), isLast }
}

/**
 * Rejects a file that no longer matches its unfinished run.
 *
 * @throws {MigrationError} if the file of a failed version no longer begins with the completed statements.
 */
export const refuseResumed: Engine['refuseResumed'] = (step, row) =>
  isGoingDown(row)
    ? sameBeginning(step, row.downSql, -1 - row.statementsDone)
    : sameBeginning(step, row.upSql, row.statementsDone)

/**
 * Checks that a file still begins with the completed statements.
 *
 * @throws {MigrationError} if the file no longer begins with the completed statements.
 */
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
  throw stopped('dirty', {
    kind: 'beginningEdited',
    version: name,
    number: version,
    direction,
    done,
    edited: edited + 1,
    table: VERSION_TABLE,
  })
}
