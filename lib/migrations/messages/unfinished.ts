import type { CommandLine } from '../../text/command-line.js'
import { type KindsOf, type Messages, writtenBy } from './messages.js'
import { problemText, type MigrationProblem } from './problem.js'
import { statements, writtenText } from './remains.js'

/** The state in which an earlier run left a dirty version. */
export interface Unfinished {
  readonly direction: 'up' | 'down'
  /**
   * The number of statements recorded as done, and their total. On PostgreSQL none is recorded, because a
   * failed file is rolled back completely.
   */
  readonly done: number
  readonly of: number
  /** True if its rollback removed nothing, so that the next `up` only clears the mark. */
  readonly staysApplied: boolean
  /** True if only the next run can determine whether its rollback is complete. */
  readonly isUnknown: boolean
  /** True if its run reported why it ended. */
  readonly isReported: boolean
  /**
   * The number of rows that a backfill has written, which remain, and the key of the last row of the last
   * completed chunk.
   */
  readonly written?: number
  readonly end?: readonly string[]
  /** The effect of `down` on it. Undefined for a rollback, which `down` finishes. */
  readonly onDown?: OnDown
}

/** The effect of `down` on a version whose up migration did not finish. */
export type OnDown = KindsOf<typeof ON_DOWN>

const GIVEN_UP = 'and affects no other migration; then its files can be corrected or deleted'
const PENDING_AGAIN = `makes it pending again ${GIVEN_UP}`

/** One clause for each. */
export const ON_DOWN = {
  clears: (_: unknown, command: CommandLine) =>
    `none of its statements has run: ${command('migrate down')} ${PENDING_AGAIN}`,
  /** MySQL: the next statement may be done. */
  mayBeDone: (_: unknown, command: CommandLine) =>
    `its statement may have completed: ${command('migrate down')} runs its down migration and ignores an error of the first statement if it is already undone; this ${PENDING_AGAIN}`,
  /** PostgreSQL: the run may have left an unusable index. */
  dropsIndex: (_: unknown, command: CommandLine) =>
    `${command('migrate down')} drops an invalid index that it left, and runs its down migration only if its statement completed; this ${PENDING_AGAIN}`,
  forgetsChunks: (_: unknown, command: CommandLine) =>
    `for a backfill, ${command('migrate down')} runs its down migration, makes it pending again and discards its position, ${GIVEN_UP}`,
  refuses: (v: { problem: { readonly kind: string } }, command: CommandLine) =>
    `${command('migrate down')} refuses it: ${problemText(v.problem as MigrationProblem, command)}`,
} satisfies Messages

/**
 * Returns the effect of `down` on an unfinished version, as a sentence.
 *
 * @internal
 * @param command - formats an `ashlar` command in the sentence.
 */
export const onDownText = (onDown: OnDown, command: CommandLine): string =>
  writtenBy(ON_DOWN, onDown, command)

const ENDED = 'the run ended without a report (process killed, session ended or host lost)'

/**
 * Returns the state of a dirty version and the effect of the next run. Empty if the version's error already
 * contains both.
 * @internal
 */
export function unfinishedText(unfinished: Unfinished): string {
  const { direction, done, of, staysApplied, isUnknown, isReported, written, end } = unfinished
  if (direction === 'down') {
    if (staysApplied) return 'its rollback failed and removed nothing; up only clears the mark'
    return isUnknown
      ? 'its rollback stopped: down finishes it; up checks whether it is done, and if so applies the migration again'
      : `its rollback stopped; ${doneText(done, of)}: down finishes it, up finishes it and applies the migration again; both ask first if that loses values (--yes)`
  }
  if (isReported) return ''
  const upTo = end === undefined ? '' : `, up to the key '${end.join("', '")}'`
  return [
    ENDED,
    ...(done === 0 ? [] : [doneText(done, of)]),
    ...(written === undefined ? [] : [`${writtenText(written)}${upTo}`]),
  ].join('; ')
}

/** Returns a sentence such as `statement 1 of 3 is done`. */
function doneText(done: number, of: number): string {
  if (done === 0) return `no statement of ${of} is recorded as done`
  return `${statements(1, done)} of ${of} ${done === 1 ? 'is' : 'are'} done`
}
