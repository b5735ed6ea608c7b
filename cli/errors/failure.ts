import type { Exit } from './exit-codes.js'

/** Ends a command with one line on stderr and the exit status of `exit`. The message says what to do. */
export class Failure extends Error {
  readonly exit: Exit

  constructor(exit: Exit, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'Failure'
    this.exit = exit
  }
}
