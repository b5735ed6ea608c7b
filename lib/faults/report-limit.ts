import { propertyOf } from './readable.js'

const MINUTE_MS = 60_000
/** The number of causes that are distinguished within a minute. */
const MAX_CAUSES = 100
/** The key of all further causes, which share one line. */
const OTHERS = ''
const LONGEST_TEXT = 200
const DEEPEST_CAUSE = 4

interface Reported {
  readonly at: number
  leftOut: number
}

/**
 * Limits reports to one per cause and minute, so that an outage produces one line instead of one for each
 * call.
 */
export class ReportLimit {
  /** The causes, the least recently reported first. */
  readonly #reported = new Map<string, Reported>()

  /** @param now - returns milliseconds of a monotonic clock. */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /**
   * Calls `report` unless the same cause was reported less than a minute ago.
   * @param what - the operation that failed, without ids. It forms the cause together with the names, codes
   *   and messages of the error and its causes.
   * @param report - receives the end of the message: the number of omitted reports since the last one.
   */
  tell(what: string, error: unknown, report: (more: string) => void): void {
    const now = this.now()
    let cause = causeText(what, error)
    this.#forget(now)
    if (!this.#reported.has(cause) && this.#reported.size >= MAX_CAUSES) cause = OTHERS
    const last = this.#reported.get(cause)
    if (last !== undefined && now - last.at < MINUTE_MS) {
      last.leftOut++
      return
    }
    this.#reported.delete(cause)
    this.#reported.set(cause, { at: now, leftOut: 0 })
    report(
      last === undefined || last.leftOut === 0 ? '' : ` (${last.leftOut} more since it was last reported)`,
    )
  }

  /**
   * Removes old causes. A cause that has occurred again is kept for another minute, so that its next report
   * contains the number.
   */
  #forget(now: number): void {
    for (const [cause, { at, leftOut }] of this.#reported) {
      const age = now - at
      if (age < MINUTE_MS) return
      if (leftOut === 0 || age >= 2 * MINUTE_MS) this.#reported.delete(cause)
    }
  }
}

/**
 * Returns the string that identifies a cause. It uses an error's code or reason if there is one, because
 * messages of servers contain files, rows, ports and requests.
 */
function causeText(what: string, error: unknown): string {
  const parts = [what]
  for (let at = error, depth = 0; at !== undefined && at !== null && depth < DEEPEST_CAUSE; depth++) {
    const of = (name: string) => (typeof at === 'object' ? propertyOf(at, name) : undefined)
    const [name, code, message] = [of('name'), of('code') ?? of('errno'), of('message')]
    const known = name === 'TransitError' ? of('reason') : name === 'DriverFault' ? code : undefined
    const isKnown = typeof known === 'string' || typeof known === 'number'
    const text = isKnown ? String(known) : typeof message === 'string' ? message : typeof at
    parts.push(String(name), text.slice(0, LONGEST_TEXT))
    at = of('cause')
  }
  return JSON.stringify(parts)
}
