/** A clock for the `now` of a repository. It stands still until you advance it. */
export interface FixedClock {
  (): Date
  /** Advances by milliseconds, and returns the new time. */
  advance(ms: number): Date
  /** Sets the time, also to an earlier one. */
  set(to: Date | string): void
}

/**
 * A clock that starts at `date`.
 * @throws RangeError for an invalid date.
 */
export function fixedClock(date: Date | string): FixedClock {
  let at = instantOf(date)
  const clock = () => new Date(at)
  return Object.assign(clock, {
    advance: (ms: number) => new Date((at += ms)),
    set: (to: Date | string) => void (at = instantOf(to)),
  })
}

function instantOf(date: Date | string): number {
  const at = new Date(date).getTime()
  if (Number.isNaN(at)) throw new RangeError(`${String(date)} is not a date`)
  return at
}
