import { AshlarError, ErrConflict, ErrPreconditionFailed } from '../../../errors.js'
import { withoutValues } from '../../../faults/driver-fault.js'
import { isInstance } from '../../../faults/readable.js'
import { driverErrors, type DriverError } from './driver-errors.js'

export { readOnlyError } from './read-only-error.js'
export { resourceError } from './resource-error.js'
export { isSchemaMismatch } from './schema-mismatch.js'

type Kind = 'conflict' | 'precondition'

/**
 * Maps SQLSTATEs to errors. An exception that a trigger raises against a write (P0001, P0004, SIGNAL's 45000,
 * RAISE) is a failed precondition on every database.
 */

/** The SQLSTATEs of PostgreSQL. */
const SQLSTATES: Readonly<Record<string, Kind>> = {
  '23505': 'conflict',
  '23000': 'precondition',
  '23001': 'precondition',
  '23502': 'precondition',
  '23503': 'precondition',
  '23514': 'precondition',
  '23P01': 'precondition',
  P0001: 'precondition',
  P0004: 'precondition',
}

/** MySQL's error numbers. MariaDB's names differ (4025 is its CHECK error). */
const ERRNOS: Readonly<Record<number, Kind>> = {
  1022: 'conflict',
  1062: 'conflict',
  1169: 'conflict',
  1586: 'conflict',
  1761: 'conflict',
  1762: 'conflict',
  1859: 'conflict',
  1048: 'precondition',
  1216: 'precondition',
  1217: 'precondition',
  1263: 'precondition',
  1364: 'precondition',
  1451: 'precondition',
  1452: 'precondition',
  1566: 'precondition',
  1644: 'precondition',
  3819: 'precondition',
  4025: 'precondition',
}

/** The class of user-defined exceptions, which SIGNAL and RAISE can use. */
const USER_DEFINED = /^45[0-9A-Z]{3}$/

/** SQLite's extended codes, as `better-sqlite3` reports them. Other constraint codes are preconditions. */
const SQLITE_CODES: Readonly<Record<string, Kind>> = {
  SQLITE_CONSTRAINT_UNIQUE: 'conflict',
  SQLITE_CONSTRAINT_PRIMARYKEY: 'conflict',
  SQLITE_CONSTRAINT_ROWID: 'conflict',
}

/** `sqlite3` uses one number for all constraints. Its message begins with fixed words, never with a value. */
const SQLITE_CONSTRAINT = 19
const SQLITE_UNIQUE = /^SQLITE_CONSTRAINT: (?:UNIQUE constraint failed|PRIMARY KEY must be unique)/

/**
 * Returns the caller's error for a violated constraint: {@link ErrConflict} for a unique index, {@link
 * ErrPreconditionFailed} for a foreign key, NOT NULL, CHECK or exclusion constraint. Returns undefined for
 * other errors. Only the driver's codes are read, because a client's value in the message could imitate a
 * conflict. The cause contains the codes but no values. Never throws.
 */
export function constraintError(error: unknown): ErrConflict | ErrPreconditionFailed | undefined {
  if (isInstance(error, ErrConflict) || isInstance(error, ErrPreconditionFailed)) return error
  if (isInstance(error, AshlarError)) return undefined
  for (const candidate of driverErrors(error)) {
    const kind = kindOf(candidate)
    if (kind === 'conflict') return new ErrConflict(withoutValues(error))
    if (kind === 'precondition') return new ErrPreconditionFailed(withoutValues(error))
  }
  return undefined
}

function kindOf({ code, errno, sqlState, message }: DriverError): Kind | undefined {
  if (typeof sqlState === 'string') {
    const kind = typeof errno === 'number' ? ERRNOS[errno] : undefined
    return kind ?? (USER_DEFINED.test(sqlState) ? 'precondition' : undefined)
  }
  if (typeof code !== 'string' || code.length > LONGEST_CODE) return undefined
  if (code === 'SQLITE_CONSTRAINT' && errno === SQLITE_CONSTRAINT)
    return typeof message === 'string' && SQLITE_UNIQUE.test(message) ? 'conflict' : 'precondition'
  if (code.startsWith('SQLITE_CONSTRAINT_')) return SQLITE_CODES[code] ?? 'precondition'
  if (USER_DEFINED.test(code)) return 'precondition'
  return Object.hasOwn(SQLSTATES, code) ? SQLSTATES[code] : undefined
}

/** Returns true if a write was rejected because of NULL in a NOT NULL column. Never throws. */
export const isNullError = (error: unknown): boolean =>
  driverErrors(error).some(
    ({ code, errno, message }) =>
      code === '23502' ||
      errno === 1048 ||
      code === 'SQLITE_CONSTRAINT_NOTNULL' ||
      (code === 'SQLITE_CONSTRAINT' && /^SQLITE_CONSTRAINT: NOT NULL/.test(String(message))),
  )

const LONGEST_CODE = 64
