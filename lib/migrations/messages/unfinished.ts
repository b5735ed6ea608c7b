import type { CommandLine } from '../../text/command-line.js'
import { type KindsOf, type Messages, writtenBy } from './messages.js'
import { problemText, type MigrationProblem } from './problem.js'
import { statements, writtenText } from './remains.js'

/** The state in which an earlier run left a dirty version. */
export interface Unfinished {
  readonly direction: 'up' | 'down'
  /**
   * The number of statements recorded as done, and of all. None is done on PostgreSQL, where a file is undone
   * as a whole.
   */
  readonly done: number
  readonly of: number
  /** True if its rollback took nothing away, so that the next `up` only clears the mark. */
  readonly staysApplied: boolean
  /** True if only the next run finds out if its rollback is done. */
  readonly isUnknown: boolean
  /** True if its run said why it ended. */
  readonly isReported: boolean
  /** Rows that a backfill has written, which stay, and the key of the last row of its last chunk. */
  readonly written?: number
  readonly end?: readonly string[]
  /** The handling by `down`; undefined for a rollback, which `down` finishes. */
  readonly onDown?: OnDown
}

/** The handling by `down` of a version whose up migration did not end. */
export type OnDown = KindsOf<typeof ON_DOWN>

const GIVEN_UP = 'and touches no other version; then its files can be corrected or deleted'
const PENDING_AGAIN = `makes it pending again ${GIVEN_UP}`

/** One part of a sentence for each. */
export const ON_DOWN = {
  clears: (_: unknown, command: CommandLine) =>
    `nothing of it is done: ${command('migrate down')} ${PENDING_AGAIN}`,
  /** MySQL: its statement may be done. */
  mayBeDone: (_: unknown, command: CommandLine) =>
    `its statement may be done: ${command('migrate down')} runs its down migration, and takes an error of its first statement that says it is undone already for success; it ${PENDING_AGAIN}`,
  /** PostgreSQL: it may have left an index that no query can use. */
  dropsIndex: (_: unknown, command: CommandLine) =>
    `${command('migrate down')} drops an unusable index that it left, and runs its down migration only where its statement is done; it ${PENDING_AGAIN}`,
  forgetsChunks: (_: unknown, command: CommandLine) =>
    `of a backfill, ${command('migrate down')} runs its down migration, makes it pending again and forgets how far it was, ${GIVEN_UP}`,
  refuses: (v: { problem: { readonly kind: string } }, command: CommandLine) =>
    `${command('migrate down')} refuses it: ${problemText(v.problem as MigrationProblem, command)}`,
} satisfies Messages

/**
 * The handling by `down` of a half-done version, as a sentence. @param command - formats the commands of the
 * advice.
 */
export const onDownText = (onDown: OnDown, command: CommandLine): string =>
  writtenBy(ON_DOWN, onDown, command)

const ENDED = 'the run ended without a report (process killed, session ended or host lost)'

/**
 * The state of a dirty version besides its error, and the effect of the next run; empty if the error states
 * it all.
 */
export function unfinishedText(unfinished: Unfinished): string {
  const { direction, done, of, staysApplied, isUnknown, isReported, written, end } = unfinished
  if (direction === 'down') {
    if (staysApplied) return 'its rollback failed and took nothing away; up only clears the mark'
    return isUnknown
      ? 'its rollback stopped: down finishes it; up looks whether it is done, and applies the version again where it is'
      : `its rollback stopped; ${doneText(done, of)}: down finishes it, up finishes it and applies the version again; both ask first where that loses values (--yes)`
  }
  if (isReported) return ''
  const upTo = end === undefined ? '' : `, up to the key '${end.join("', '")}'`
  return [
    ENDED,
    ...(done === 0 ? [] : [doneText(done, of)]),
    ...(written === undefined ? [] : [`${writtenText(written)}${upTo}`]),
  ].join('; ')
}

/** `statement 1 of 3 is done`. */
function doneText(done: number, of: number): string {
  if (done === 0) return `no statement of ${of} is recorded as done`
  return `${statements(1, done)} of ${of} ${done === 1 ? 'is' : 'are'} done`
}
