import { commandLine, type CommandLine } from '../../text/command-line.js'
import { type KindsOf, type Messages, writtenBy } from './messages.js'
import { type MigrationProblem, problemText } from './problem.js'

/** A problem that was found when a version was applied, rolled back and applied again. */
export type TriedDown = KindsOf<typeof TRIED_DOWNS>

const FAILS = {
  up: 'does not go up',
  down: 'goes up, but not down',
  again: 'goes up and down, but not up a second time',
}
const FILES = { down: '.down.sql', again: '.up.sql, applied again after its down migration,' }
const EFFECTS = { loses: 'does not restore', changes: 'changes', leaves: 'leaves' }

/** One sentence for each problem. `version` is a name such as `0002_widgets`. */
export const TRIED_DOWNS = {
  fails: (
    v: { version: string; step: keyof typeof FAILS; problem: { readonly kind: string } },
    command: CommandLine,
  ) => `${v.version} ${FAILS[v.step]}: ${problemText(v.problem as MigrationProblem, command)}`,
  /** `object` is a description such as `column colour of tasks`. */
  differs: (v: { version: string; step: keyof typeof FILES; effect: keyof typeof EFFECTS; object: string }) =>
    `${v.version}${FILES[v.step]} ${EFFECTS[v.effect]} ${v.object}`,
} satisfies Messages

/**
 * Returns the result of a tried down migration, as a sentence.
 * @internal
 * @param command - formats an `ashlar` command in the sentence.
 */
export const triedDownText = (tried: TriedDown, command: CommandLine = commandLine): string =>
  writtenBy(TRIED_DOWNS, tried, command)
