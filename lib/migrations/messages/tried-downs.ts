import { commandLine, type CommandLine } from '../../text/command-line.js'
import { type KindsOf, type Messages, writtenBy } from './messages.js'
import { type MigrationProblem, problemText } from './problem.js'

/** A problem of a version that was applied, rolled back and applied a second time. */
export type TriedDown = KindsOf<typeof TRIED_DOWNS>

const FAILS = {
  up: 'does not go up',
  down: 'goes up, but not down',
  again: 'goes up and down, but not up a second time',
}
const FILES = { down: '.down.sql', again: '.up.sql, applied a second time after its down migration,' }
const EFFECTS = { loses: 'does not bring back', changes: 'changes', leaves: 'leaves' }

/** One sentence for each. `version` is a name such as `0002_widgets`. */
export const TRIED_DOWNS = {
  fails: (
    v: { version: string; step: keyof typeof FAILS; problem: { readonly kind: string } },
    command: CommandLine,
  ) => `${v.version} ${FAILS[v.step]}: ${problemText(v.problem as MigrationProblem, command)}`,
  /** `object` is such as `column colour of tasks`. */
  differs: (v: { version: string; step: keyof typeof FILES; effect: keyof typeof EFFECTS; object: string }) =>
    `${v.version}${FILES[v.step]} ${EFFECTS[v.effect]} ${v.object}`,
} satisfies Messages

/**
 * The remains of a tried down migration, as a sentence. @param command - formats the commands of the advice.
 */
export const triedDownText = (tried: TriedDown, command: CommandLine = commandLine): string =>
  writtenBy(TRIED_DOWNS, tried, command)
