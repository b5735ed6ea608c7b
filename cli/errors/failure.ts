import type { Exit } from './exit-codes.js'

/** Ends a command with one line on stderr and the exit status of `exit`. The message says what to do. */
export class Failure extends Error {
  readonly exit: Exit
  /** What `--json` prints of it besides, such as its kind and values. */
  readonly facts: object

  constructor(
    exit: Exit,
    message: string,
    { facts = {}, ...options }: ErrorOptions & { facts?: object } = {},
  ) {
    super(message, options)
    this.name = 'Failure'
    this.exit = exit
    this.facts = facts
  }
}
