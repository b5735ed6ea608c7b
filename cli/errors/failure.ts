import type { Exit } from './exit-codes.js'

/** Several problems, each printed on its own line. */
export interface Listed {
  readonly head: string
  readonly lines: readonly string[]
}

interface FailureOptions extends ErrorOptions {
  readonly facts?: object
  readonly listed?: Listed | undefined
}

/**
 * An error that ends a command with an exit status. The command prints the message, or `listed`, on stderr.
 * The message includes advice.
 */
export class Failure extends Error {
  readonly exit: Exit
  /** Further values for `--json`, such as the kind and the values of a problem. */
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
