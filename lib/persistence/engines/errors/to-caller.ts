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

/** Translates errors of a table's indexes, as far as the indexes are known. */
export interface TableIndexes {
  conflict(error: unknown): ErrConflict | Internal
  tooLong(error: unknown): InvalidArgument | undefined
  unfit(error: unknown): InvalidArgument | undefined
  missing(error: unknown, isReferring?: boolean): InvalidArgument | ErrPreconditionFailed | undefined
}

/**
 * Returns the error that a caller receives for a failure. It is never the driver's own error, which contains
 * SQL and values.
 *
 * @param indexes - the indexes of the written table, if known.
 * @param isReferring - true if written values may refer to other rows. Undefined if unknown.
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
 * Returns true if the server ended the statement because of PostgreSQL's statement_timeout, MariaDB's
 * max_statement_time or MySQL's max_execution_time.
 */
const isTimedOut = (error: unknown): boolean =>
  driverErrors(error).some(
    ({ code, errno, sqlState }) =>
      code === '57014' || (typeof sqlState === 'string' && (errno === 1969 || errno === 3024)),
  )
