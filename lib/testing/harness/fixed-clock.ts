/** A clock for a repository's `now` option. It changes only when you advance it. */
export interface FixedClock {
  (): Date
  /** Advances the clock by milliseconds and returns the new time. */
  advance(ms: number): Date
  /** Sets the time, which may be earlier. */
  set(to: Date | string): void
}

/**
 * Returns a clock that starts at `date`.
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
