/** The number of statements among which the fastest is looked for. Twice as many are remembered. */
const WINDOW = 128

/** The minimum time that a further call adds to a statement. */
const PER_CALL_MS = 0.01

/** Below it, few statements are faster. Above, slots that stay empty cost throughput. */
const NEAR_MS = 0.5
const NEAR_STATEMENTS = 4

/**
 * Below it, few statements with many calls each are faster: what a statement costs both sides is more than a
 * call adds to it.
 */
const NEAREST_MS = 0.25
const NEAREST_CALLS = 3

/**
 * The distance to the database, and so the number of statements of a shape that are worth sending at once. It
 * is the time of the fastest of the last statements, because the others have waited for a connection or for
 * this process.
 */
export class RoundTrip {
  #fastest = Number.POSITIVE_INFINITY
  #fastestBefore = Number.POSITIVE_INFINITY
  #seen = 0

  /** A statement has succeeded. */
  took(ms: number, calls: number): void {
    this.#fastest = Math.min(this.#fastest, ms - (calls - 1) * PER_CALL_MS)
    if (++this.#seen < WINDOW) return
    this.#seen = 0
    this.#fastestBefore = this.#fastest
    this.#fastest = Number.POSITIVE_INFINITY
  }

  /**
   * True if one more statement is to be sent.
   * @param statements - that are in flight. @param calls - that they carry. @param connections - how many the
   * pool may have.
   */
  hasRoom(statements: number, calls: number, connections: number): boolean {
    const ms = Math.min(this.#fastest, this.#fastestBefore)
    if (statements >= connections) return false
    if (ms < NEAREST_MS) return calls < NEAREST_CALLS
    return ms >= NEAR_MS || statements < NEAR_STATEMENTS
  }
}
