import { shellWord } from './shell-word.js'

/** The flags of a command: `{ to: 5, yes: true }` is `--to 5 --yes`. */
export type CommandOptions = Readonly<Record<string, string | number | true>>

/** A command to run next, as a value: the command that prints it adds the flags of its own run. */
export interface NextStep {
  /** `migrate up`. */
  readonly command: string
  readonly args?: readonly string[]
  readonly options?: CommandOptions
}

/** Writes a command as a line for the shell. */
export type CommandLine = (command: string, options?: CommandOptions, ...args: readonly string[]) => string

/** The flags of a command line, in the words of a shell. */
export const flagsOf = (options: CommandOptions): readonly string[] =>
  Object.entries(options).flatMap(([name, value]) =>
    value === true ? [`--${name}`] : [`--${name}`, shellWord(String(value))],
  )

/** `ashlar migrate diff NAME --contract`, without the flags of any run. */
export const commandLine: CommandLine = (command, options = {}, ...args) =>
  ['ashlar', command, ...args.map(shellWord), ...flagsOf(options)].join(' ')
