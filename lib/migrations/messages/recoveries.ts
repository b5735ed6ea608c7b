import { type KindsOf, type Messages, writtenBy } from './messages.js'
import { statements } from './remains.js'

/** The way in which `up` continues with a version that an earlier run left unfinished. */
export type Recovery = KindsOf<typeof RECOVERIES>

/** The end of a dirty version's run. */
export type RunEnd = 'unreported' | 'cancelled' | 'failed'

const ENDS: Readonly<Record<RunEnd, string>> = {
  unreported: 'its last run ended without a report',
  cancelled: 'it was cancelled',
  failed: 'it failed',
}

const GONE = 'this down migration reads a column that no longer exists, and none of its statements has run'

/** The clauses that describe what `up` does with a version. */
export const RECOVERIES = {
  leftNothing: () => 'it failed and left nothing behind: nothing is run',
  clearsMark: () => 'its rollback failed and removed nothing; up only clears the mark',
  finishesRollBack: () => 'finishes its rollback',
  earlierVector: () => `${GONE}: next is the vector before it`,
  withoutVector: () =>
    `${GONE}: the vector is left out, and the next search migration that up applies creates it again`,
  statementDone: (v: { statement: number }) => `statement ${v.statement} was done when the last run ended`,
  dropsIndex: (v: { index: string; leftBy: 'build' | 'drop' | 'reindex' }) =>
    `drops the index ${v.index}, ${{ build: 'which an earlier run left behind', drop: 'whose drop was interrupted', reindex: 'which a REINDEX left behind' }[v.leftBy]}`,
  detaches: (v: { partition: string }) => `finishes detaching ${v.partition}`,
  /** An unfinished backfill. A later message reports the position at which it resumes. */
  resumesChunks: (v: { end: RunEnd }) => ENDS[v.end],
  goesOnBehind: (v: { rows: number; table: string }) => `continues after ${v.rows} rows of ${v.table}`,
  beginsAgain: (v: { end: RunEnd }) =>
    `${ENDS[v.end]}, and nothing of it was done: starts at its first statement`,
  looksAgain: (v: { end: RunEnd }) =>
    `${ENDS[v.end]} before: now checks what that left behind, and runs it again if it is not done`,
  /**
   * MySQL only. `mayBeDone`: the statement after the completed ones may be done, too. `isLast`: it was the
   * last run that ended without a report.
   */
  goesOnWith: (v: { end: RunEnd; done: number; of: number; mayBeDone: boolean; isLast: boolean }) => {
    const { end, done, of, mayBeDone } = v
    const applied = `${statements(1, done)} ${done === 1 ? 'was' : 'were'} applied`
    if (done > 0 && done >= of)
      return `${ENDS[end]}, and ${applied}: the file has no more statements, and nothing is run`
    const nothing = mayBeDone ? 'no statement before it was applied' : 'no statement of the file was applied'
    const there = done === 0 ? nothing : `${applied} and ${done === 1 ? 'remains' : 'remain'} in effect`
    const next = `statement ${done + 1} of ${of}`
    return mayBeDone
      ? `${v.isLast ? 'its last run' : 'an earlier run of it'} ended without a report at ${next}, and ${there}: runs that statement again, and ignores an error that reports it as already done`
      : `${ENDS[end]} at ${next}, and ${there}: continues with that statement`
  },
} satisfies Messages

/**
 * Returns how `up` continues with an unfinished version, as a sentence.
 * @internal
 */
export const recoveryText = (recovery: Recovery): string => writtenBy(RECOVERIES, recovery, () => '')
