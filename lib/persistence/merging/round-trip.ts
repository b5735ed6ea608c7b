/** How many statements the fastest is looked for among. Twice as many are remembered. */
const WINDOW = 128

/** What a further call adds to the time of a statement, at least. */
const PER_CALL_MS = 0.01

/** Below these, fewer statements with more calls each are faster. Above, slots that stay empty cost throughput. */
const NEAR_MS = 0.5
const NEAREST_MS = 0.25

/**
 * How far away the database is, and so how many statements of a shape are worth sending at once. It is measured by the fastest of
 * the last statements, because the others have waited for a connection or for this process.
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

  /** @param connections - how many the pool may have. */
  limit(connections: number): number {
    const ms = Math.min(this.#fastest, this.#fastestBefore)
    if (ms >= NEAR_MS) return connections
    return Math.min(connections, ms < NEAREST_MS ? 2 : 4)
  }
}
