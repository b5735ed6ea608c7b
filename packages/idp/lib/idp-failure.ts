/** An error that a person can mend. Its message is printed as it is, without a stack. */
export class Failure extends Error {
  override readonly name = 'Failure'

  constructor(
    message: string,
    /**
     * Of the process: 1 what the command asks about is not so, 2 wrong input, 3 no program responds, 4 a
     * conflict.
     */
    readonly exitCode = 2,
  ) {
    super(message)
  }
}

export const NO_RESPONSE = 3
export const CONFLICT = 4
