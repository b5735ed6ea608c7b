import { AshlarError, Internal } from '../errors.js'
import { constraintError } from './constraint-error.js'

/** No driver's error leaves as it is: it carries SQL and values. */
export const toCaller = (error: unknown): unknown =>
  error instanceof AshlarError || error instanceof TypeError
    ? error
    : (constraintError(error) ?? new Internal(error))
