import { propertyOf } from '../../../faults/readable.js'

/** What the drivers put on their errors, as it was read once; every field is untrusted until it is compared. */
export interface DriverError {
  /** Of which the fields are. */
  readonly thrown: object
  readonly code: unknown
  readonly errno: unknown
  readonly sqlState: unknown
  readonly message: unknown
  readonly fatal: unknown
}

/** How many errors inside of each other are looked at. */
const MOST = 16

/** The errors inside of an error, innermost first: what TypeORM, or we, wrapped around what a driver threw. Never throws. */
export function driverErrors(error: unknown): readonly DriverError[] {
  const found: DriverError[] = []
  const seen = new Set<unknown>()
  const walk = (thrown: unknown): void => {
    if (typeof thrown !== 'object' || thrown === null || seen.has(thrown) || seen.size > MOST) return
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
