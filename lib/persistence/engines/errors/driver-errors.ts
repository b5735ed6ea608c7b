import { propertyOf } from '../../../faults/readable.js'

/** The fields of a driver error, each read once. Values are untrusted until they are compared. */
export interface DriverError {
  /** The error that has these fields. */
  readonly thrown: object
  readonly code: unknown
  readonly errno: unknown
  readonly sqlState: unknown
  readonly message: unknown
  readonly fatal: unknown
}

/** The maximum number of nested errors to read. */
const MAX = 16

/**
 * Returns the errors inside an error, innermost first. TypeORM and Ashlar wrap errors of a driver. Never
 * throws.
 */
export function driverErrors(error: unknown): readonly DriverError[] {
  const found: DriverError[] = []
  const seen = new Set<unknown>()
  const walk = (thrown: unknown): void => {
    if (typeof thrown !== 'object' || thrown === null || seen.has(thrown) || seen.size > MAX) return
    seen.add(thrown)
    walk(propertyOf(thrown, 'driverError'))
    walk(propertyOf(thrown, 'cause'))
    const of = (name: string) => propertyOf(thrown, name)
    found.push({
      thrown,
      code: of('code'),
      errno: of('errno'),
      sqlState: of('sqlState'),
      message: of('message'),
      fatal: of('fatal'),
    })
  }
  walk(error)
  return found
}
