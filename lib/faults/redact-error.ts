import { propertyOf } from './readable.js'

const MAX_CAUSES = 4
const FIELDS = ['name', 'code', 'errno', 'sqlState', 'cause']
const NAME = /^[\w$.-]{1,64}$/
const SQL_STATE = /^[0-9A-Z]{5}$/

/** The parts of an error that may be logged: enough to identify it, without data of callers or rows. */
export interface RedactedError {
  readonly name: string
  readonly code?: string | number
  readonly errno?: number
  readonly sqlState?: string
  readonly cause?: RedactedError
}

/**
 * Returns an error without its message, stack, statement, parameters and detail. Drivers put values into
 * these: TypeORM's QueryFailedError has `query` and `parameters`, mysql2's `sql` contains the values, and
 * pg's `detail` repeats the row.
 */
export const redactError = (error: unknown): RedactedError => redacted(error, MAX_CAUSES)

function redacted(error: unknown, causes: number): RedactedError {
  if (typeof error !== 'object' || error === null) return { name: typeof error }
  const [name, code, errno, sqlState, cause] = FIELDS.map((field) => propertyOf(error, field))
  return {
    name: typeof name === 'string' && NAME.test(name) ? name : 'Error',
    ...(typeof code === 'number' || (typeof code === 'string' && NAME.test(code)) ? { code } : {}),
    ...(typeof errno === 'number' ? { errno } : {}),
    ...(typeof sqlState === 'string' && SQL_STATE.test(sqlState) ? { sqlState } : {}),
    ...(cause === undefined || causes === 0 ? {} : { cause: redacted(cause, causes - 1) }),
  }
}
