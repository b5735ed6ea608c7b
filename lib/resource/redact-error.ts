const MAX_CAUSES = 4
const NAME = /^[\w$.-]{1,64}$/
const SQL_STATE = /^[0-9A-Z]{5}$/

/** What of an error may be logged: enough to look it up, nothing that a caller or a row has put into it. */
export interface RedactedError {
  readonly name: string
  readonly code?: string | number
  readonly errno?: number
  readonly sqlState?: string
  readonly cause?: RedactedError
}

/**
 * An error without its message, stack, statement, parameters and detail. Drivers fill those with values: TypeORM's
 * QueryFailedError carries `query` and `parameters`, mysql2's `sql` has them filled in, pg's `detail` repeats the row.
 */
export const redactError = (error: unknown): RedactedError => redacted(error, MAX_CAUSES)

/** Parameters of a statement by kind and size, for a log of statements. */
export const redactParameters = (parameters: readonly unknown[]): string[] => parameters.map(kindOf)

function redacted(error: unknown, causes: number): RedactedError {
  if (typeof error !== 'object' || error === null) return { name: typeof error }
  const { name, code, errno, sqlState, cause } = error as Readonly<Record<string, unknown>>
  return {
    name: typeof name === 'string' && NAME.test(name) ? name : 'Error',
    ...(typeof code === 'number' || (typeof code === 'string' && NAME.test(code)) ? { code } : {}),
    ...(typeof errno === 'number' ? { errno } : {}),
    ...(typeof sqlState === 'string' && SQL_STATE.test(sqlState) ? { sqlState } : {}),
    ...(cause === undefined || causes === 0 ? {} : { cause: redacted(cause, causes - 1) }),
  }
}

function kindOf(value: unknown): string {
  if (typeof value === 'string') return `string(${value.length})`
  if (value instanceof Uint8Array) return `bytes(${value.length})`
  if (Array.isArray(value)) return `array(${value.length})`
  if (value instanceof Date) return 'date'
  return value === null ? 'null' : typeof value
}
