/** An error that the user can correct. Its message is printed unchanged and without a stack. */
export class Failure extends Error {
  override readonly name = 'Failure'

  constructor(
    message: string,
    /**
     * The exit status of the process: 1 if a check fails, 2 for invalid input, 3 if no program responds, 4
     * for a conflict.
     */
    readonly exitCode = 2,
  ) {
    super(message)
  }
}

export const NO_RESPONSE = 3
export const CONFLICT = 4
