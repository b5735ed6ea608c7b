import type { Exit } from './exit-codes.js'

/** Several problems, each of which stands on a line of its own. */
export interface Listed {
  readonly head: string
  readonly lines: readonly string[]
}

interface FailureOptions extends ErrorOptions {
  readonly facts?: object
  readonly listed?: Listed | undefined
}

/**
 * Ends a command with one line on stderr, or one for each of several problems, and the exit status of `exit`.
 * The message says what to do.
 */
export class Failure extends Error {
  readonly exit: Exit
  /** Further values for `--json`, such as its kind and values. */
  readonly facts: object
  /** The lines to print on stderr instead of the message. */
  readonly listed: Listed | undefined

  constructor(exit: Exit, message: string, { facts = {}, listed, ...options }: FailureOptions = {}) {
    super(message, options)
    this.name = 'Failure'
    this.exit = exit
    this.facts = facts
    this.listed = listed
  }
}
