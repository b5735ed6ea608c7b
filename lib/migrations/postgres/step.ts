import { type NonTransactional, nonTransactionalOf } from './sql/non-transactional.js'
import { movesExtension, reachExtensions, refuseStrangers, refuseStrangeTable } from './extensions.js'
import { indexState } from './index-state.js'
import { recoverNonTransactional } from './recovery.js'
import { stopped } from '../messages/problem.js'
import type { Recovery } from '../messages/recoveries.js'
import { endBackfill, fillRows } from '../session/fill-rows.js'
import { SessionError } from '../session/session-error.js'
import { endOf, failureOf, send, type Step, storedText } from '../session/step.js'
import { refuseAborted } from '../session/stoppable.js'
import {
  type AppliedVersion,
  claimVersion,
  deleteVersion,
  isGoingDown,
  keepDown,
  markApplied,
  markVersion,
  type VersionRow,
  writeVersion,
} from '../session/version-table.js'

/**
 * Applies a version: the file and its row in one transaction, or its only statement outside a transaction.
 */
export async function upOnPostgres(step: Step, row: VersionRow, previous?: AppliedVersion): Promise<void> {
  const { session } = step
  const isDone =
    previous !== undefined && (await recoverNonTransactional(step, previous, previous.upSql === row.upSql))
  if (step.backfill !== undefined) {
    await writeVersion(session, { ...row, dirty: true, statementsDone: 0 })
    await filled(step, previous !== undefined)
    await writeVersion(session, row)
    return endBackfill(step)
  }
  const nonTransactional = nonTransactionalIn(step)
  if (nonTransactional === undefined) {
    await inTransaction(step, {
      isDirty: previous !== undefined,
      record: () => claimVersion(session, row),
      recordFailure: (error) => claimVersion(session, { ...row, dirty: true, statementsDone: 0, error }),
    })
    return stampEnd(step)
  }
  if (!isDone) {
    await writeVersion(session, { ...row, dirty: true, statementsDone: 0 })
    await runNonTransactional(step, nonTransactional, 0)
  }
  await writeVersion(session, row)
}

/**
 * Records the end time of a version. The row was already written at the beginning, so that a missing
 * privilege fails first. The file may have changed the role or settings, which are restored after its COMMIT.
 * If this update fails, the row contains the start time.
 */
async function stampEnd({ session, options, version, statements }: Step): Promise<void> {
  try {
    await session.settle(options.lockTimeoutMs, options.statementTimeoutMs)
    await markApplied(session, version, statements.length)
  } catch {
    // The version is applied even if this fails.
  }
}

/** Rolls back a version in the same way. The caller checks that its up migration was finished. */
export async function downOnPostgres(step: Step, previous: AppliedVersion): Promise<void> {
  const { session, version } = step
  const isDone =
    isGoingDown(previous) && (await recoverNonTransactional(step, previous, step.sql === previous.downSql))
  if (step.sql !== previous.downSql) await keepDown(session, version, step.sql)
  const nonTransactional = nonTransactionalIn(step)
  if (nonTransactional === undefined)
    return inTransaction(step, {
      isDirty: previous.dirty,
      record: () => deleteVersion(session, version),
      // The failed transaction has undone nothing, so a version whose up migration did not finish stays
      // unfinished.
      recordFailure: (error) =>
        markVersion(session, version, {
          dirty: true,
          statementsDone: previous.dirty && !isGoingDown(previous) ? previous.statementsDone : -1,
          error,
        }),
    })
  if (!isDone) {
    await markVersion(session, version, { dirty: true, statementsDone: -1, error: undefined })
    await runNonTransactional(step, nonTransactional, -1)
  }
  await deleteVersion(session, version)
}

/** Returns the completed part of an unfinished version. */
export function resumes(step: Step, row: AppliedVersion): Recovery {
  const end = endOf(row)
  if (step.backfill !== undefined) return { kind: 'resumesChunks', end }
  return { kind: nonTransactionalIn(step) === undefined ? 'beginsAgain' : 'looksAgain', end }
}

const nonTransactionalIn = ({ statements: [first] }: Step): NonTransactional | undefined =>
  first && nonTransactionalOf(first)

interface Recorder {
  /**
   * True if an earlier run failed. This run is then always recorded, so that the stored error is not the
   * earlier run's.
   */
  readonly isDirty: boolean
  /** Records the version, inside the transaction. */
  readonly record: () => Promise<void>
  /** Records the failure, after the rollback. */
  readonly recordFailure: (error: string) => Promise<void>
}

async function inTransaction(step: Step, { isDirty, record, recordFailure }: Recorder): Promise<void> {
  const { session, options, statements } = step
  await session.settle(options.lockTimeoutMs, options.statementTimeoutMs)
  await session.run('BEGIN', 0)
  await record().catch((error: unknown) => {
    if (!(error instanceof SessionError) || error.failure !== 'failed') throw error
    const { message, code: sqlState } = error
    throw stopped('locked', { kind: 'rowNotWritten', version: step.name, message, sqlState })
  })
  let at: number | undefined = 0
  try {
    const strangers = [...(await reachExtensions(step))]
    for (; at < statements.length; at++) {
      await send(step, at, options.statementTimeoutMs)
      const statement = statements[at]
      if (statement !== undefined && movesExtension(statement))
        strangers.push(...(await reachExtensions(step)))
    }
    at = undefined
    await refuseStrangers(step, strangers)
    refuseAborted(options.signal)
    await options.inspect?.(session)
    await session.run('COMMIT', 0)
  } catch (error) {
    const failure = failureOf(step, at, error, { kind: 'nothing' })
    // Without a connection nothing can be recorded, and the server has already rolled back. A cancelled file
    // leaves no record.
    await session
      .run('ROLLBACK', 0)
      .then(() => (failure.stop === 'cancelled' && !isDirty ? undefined : recordFailure(storedText(failure))))
      .catch(() => undefined)
    throw failure
  }
}

async function filled(step: Step, isResumed: boolean): Promise<void> {
  const { session, options, version } = step
  await session.settle(options.lockTimeoutMs, options.statementTimeoutMs)
  try {
    await reachExtensions(step)
    await fillRows(step, isResumed)
  } catch (error) {
    const failure = failureOf(step, 0, error, { kind: 'chunks' })
    const stored = { dirty: true, statementsDone: 0, error: storedText(failure) }
    await markVersion(session, version, stored).catch(() => undefined)
    throw failure
  }
}

async function runNonTransactional(
  step: Step,
  nonTransactional: NonTransactional,
  statementsDone: number,
): Promise<void> {
  const { session, options, version } = step
  await session.settle(0, options.concurrentTimeoutMs)
  try {
    if (nonTransactional.kind === 'createIndex') {
      await reachExtensions(step)
      await refuseStrangeTable(step, nonTransactional.paths.table)
    }
    await send(step, 0, options.concurrentTimeoutMs)
    if (nonTransactional.kind === 'createIndex' && (await indexState(session, nonTransactional)) !== 'valid')
      throw stopped('failed', {
        kind: 'invalidIndexThere',
        version: step.name,
        index: nonTransactional.index,
      })
  } catch (error) {
    const failure = failureOf(step, 0, error, { kind: 'index' })
    // Without a connection, the progress of the server is unknown, and the row continues to say so.
    const stored = { dirty: true, statementsDone, error: storedText(failure) }
    await markVersion(session, version, stored).catch(() => undefined)
    throw failure
  }
}
