import type { CommandLine, NextStep } from '../../../lib/migrations/index.js'
import type { Paint } from '../../output/paint.js'
import { namesText } from './names-text.js'

/** The style of a view: its colors, and commands with the flags of the run. */
export interface Style {
  readonly paint: Paint
  readonly command: CommandLine
}

/**
 * The last line of a command that another one follows: `Next: ashlar migrate plan`. @param when - what is so
 * then.
 */
export const nextLine = (
  { command }: Pick<Style, 'command'>,
  { command: name, options = {}, args = [] }: NextStep,
  when = '',
): string => `Next: ${command(name, options, ...args)}${when === '' ? '' : `, ${when}`}`

/** The next step after versions were recorded without reading the tables. */
export const uncomparedLine = (style: Style): string =>
  nextLine(
    style,
    { command: 'migrate up' },
    `then ${verifyLine(style)}: nothing was compared with the tables`,
  )

export const verifyLine = ({ command }: Style): string => command('migrate verify', { entities: 'MODULE' })

/** Which versions `migrate up` applies next; nothing for none. */
export const nextUpLines = (style: Style, planned: readonly string[]): readonly string[] =>
  planned.length === 0
    ? []
    : [nextLine(style, { command: 'migrate up' }, `which applies ${namesText(planned)}`)]
