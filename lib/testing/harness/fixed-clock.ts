/** The time, for the `now` of a repository: it stands still until it is told to go on. */
export interface FixedClock {
  (): Date
  /** Goes on by milliseconds, and answers what time it is then. */
  advance(ms: number): Date
  /** Goes to an instant, back too. */
  set(to: Date | string): void
}

/**
 * A clock that starts at `date`.
 * @throws RangeError for what is no date.
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
  if (Number.isNaN(at)) throw new RangeError(`${String(date)} is no date`)
  return at
}
