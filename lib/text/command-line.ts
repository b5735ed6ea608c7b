import { shellWord } from './shell-word.js'

/** The flags of a command: `{ to: 5, yes: true }` becomes `--to 5 --yes`. */
export type CommandOptions = Readonly<Record<string, string | number | true>>

/**
 * A command to run next. The command that prints it adds the flags of its own run.
 * @internal
 */
export interface NextStep {
  /** The command, such as `migrate up`. */
  readonly command: string
  readonly args?: readonly string[]
  readonly options?: CommandOptions
}

/** Formats a command as a line for the shell. */
export type CommandLine = (command: string, options?: CommandOptions, ...args: readonly string[]) => string

/** Returns the flags of a command line as shell words. */
export const flagsOf = (options: CommandOptions): readonly string[] =>
  Object.entries(options).flatMap(([name, value]) =>
    value === true ? [`--${name}`] : [`--${name}`, shellWord(String(value))],
  )

/** Formats a command such as `ashlar migrate diff NAME --contract`, without flags of the current run. */
export const commandLine: CommandLine = (command, options = {}, ...args) =>
  ['ashlar', command, ...args.map(shellWord), ...flagsOf(options)].join(' ')
