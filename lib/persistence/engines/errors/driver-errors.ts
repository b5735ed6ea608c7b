import { propertyOf } from '../../../faults/readable.js'

/** Fields of a driver's error, each read once. Every field is untrusted until it is compared. */
export interface DriverError {
  /** The error with these fields. */
  readonly thrown: object
  readonly code: unknown
  readonly errno: unknown
  readonly sqlState: unknown
  readonly message: unknown
  readonly fatal: unknown
}

/** The most nested errors that are read. */
const MAX = 16

/**
 * The errors inside an error, innermost first: TypeORM and the framework wrap what a driver threw. Never
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
