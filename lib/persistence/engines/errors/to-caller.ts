import {
  AshlarError,
  DeadlineExceeded,
  ErrConflict,
  type ErrPreconditionFailed,
  Internal,
  type InvalidArgument,
} from '../../../errors.js'
import { isInstance, readable } from '../../../faults/readable.js'
import { constraintError } from './constraint-error.js'
import { abortedBy, retryable } from './deadlock-retries.js'
import { driverErrors } from './driver-errors.js'

/** The indexes of a table, as far as they are known. */
export interface TableIndexes {
  conflict(error: unknown): ErrConflict | Internal
  tooLong(error: unknown): InvalidArgument | undefined
  unfit(error: unknown): InvalidArgument | undefined
  missing(error: unknown, isReferring?: boolean): InvalidArgument | ErrPreconditionFailed | undefined
}

/**
 * The error of a failure that a caller receives: never a driver's error unchanged, which contains SQL and
 * values.
 * @param indexes - those of the table that was written, if it is known.
 * @param isReferring - true if values were written that may refer to other rows; undefined if not known.
 */
export function toCaller(error: unknown, indexes?: TableIndexes, isReferring?: boolean): unknown {
  if (isInstance(error, AshlarError) || isInstance(error, TypeError)) return readable(error)
  const violated = constraintError(error)
  if (violated !== undefined) {
    if (indexes === undefined) return violated
    if (isInstance(violated, ErrConflict)) return indexes.conflict(error)
    return indexes.missing(error, isReferring) ?? violated
  }
  if (retryable(error)) return abortedBy(error)
  const tooLong = indexes?.tooLong(error)
  if (tooLong !== undefined) return tooLong
  const unfit = indexes?.unfit(error)
  if (unfit !== undefined) return unfit
  return isTimedOut(error) ? new DeadlineExceeded(undefined, error) : new Internal(readable(error))
}

/**
 * The server has ended the statement: PostgreSQL's statement_timeout, MariaDB's max_statement_time, MySQL's
 * max_execution_time.
 */
const isTimedOut = (error: unknown): boolean =>
  driverErrors(error).some(
    ({ code, errno, sqlState }) =>
      code === '57014' || (typeof sqlState === 'string' && (errno === 1969 || errno === 3024)),
  )
