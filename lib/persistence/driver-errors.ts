/** What the drivers put on their errors; every field is untrusted until it is compared. */
export interface DriverError {
  readonly code?: unknown
  readonly errno?: unknown
  readonly sqlState?: unknown
  readonly message?: unknown
  readonly fatal?: unknown
}

/** The errors inside of an error, innermost first: what TypeORM, or we, wrapped around what a driver threw. */
export function driverErrors(error: unknown): readonly DriverError[] {
  const found: DriverError[] = []
  const seen = new Set<unknown>()
  const walk = (candidate: unknown): void => {
    if (typeof candidate !== 'object' || candidate === null || seen.has(candidate) || seen.size > 16) return
    seen.add(candidate)
    if ('driverError' in candidate) walk(candidate.driverError)
    if ('cause' in candidate) walk(candidate.cause)
    found.push(candidate)
  }
  walk(error)
  return found
}
