import type { CommandLine, NextStep } from '../../../lib/migrations/index.js'
import type { Paint } from '../../output/paint.js'
import { namesText } from './names-text.js'

/** The style of a view: its colors, and commands with the flags of the current run. */
export interface Style {
  readonly paint: Paint
  readonly command: CommandLine
}

/**
 * Returns the last line of a command's output: `Next: ashlar migrate plan`.
 * @param when - the condition for this step.
 */
export const nextLine = (
  { command }: Pick<Style, 'command'>,
  { command: name, options = {}, args = [] }: NextStep,
  when = '',
): string => `Next: ${command(name, options, ...args)}${when === '' ? '' : `, ${when}`}`

/** Returns the next step after migrations were recorded without comparing the tables. */
export const uncomparedLine = (style: Style): string =>
  nextLine(
    style,
    { command: 'migrate up' },
    `then ${verifyLine(style)}: the tables have not been compared yet`,
  )

export const verifyLine = ({ command }: Style): string => command('migrate verify', { entities: 'MODULE' })

/** Returns a line with the migrations that `migrate up` applies next; empty if there are none. */
export const nextUpLines = (style: Style, planned: readonly string[]): readonly string[] =>
  planned.length === 0
    ? []
    : [nextLine(style, { command: 'migrate up' }, `which applies ${namesText(planned)}`)]
