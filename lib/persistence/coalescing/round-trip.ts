/**
 * The number of statements after which the fastest time is determined again. It is the minimum of the last
 * 128 to 256 statements.
 */
const WINDOW = 128

/** The minimum time that each additional call adds to a statement. */
const PER_CALL_MS = 0.01

/**
 * Below this round-trip time, sending few statements concurrently is fastest. Above it, unused slots would
 * cost throughput.
 */
const NEAR_MS = 0.5
const NEAR_STATEMENTS = 4

/**
 * Below this round-trip time, few statements with many calls each are fastest, because a statement costs
 * client and server more than an additional call does.
 */
const NEAREST_MS = 0.25
const NEAREST_CALLS = 3

/**
 * Estimates the round trip to the database, which limits the number of statements worth sending concurrently.
 * The estimate is the fastest of the last statements. Slower ones also waited for a connection or for this
 * process.
 */
export class RoundTrip {
  #fastest = Number.POSITIVE_INFINITY
  #fastestBefore = Number.POSITIVE_INFINITY
  #seen = 0

  /** Records the duration of a successful statement. */
  took(ms: number, calls: number): void {
    this.#fastest = Math.min(this.#fastest, ms - (calls - 1) * PER_CALL_MS)
    if (++this.#seen < WINDOW) return
    this.#seen = 0
    this.#fastestBefore = this.#fastest
    this.#fastest = Number.POSITIVE_INFINITY
  }

  /**
   * Returns true if another statement should be sent.
   *
   * @param statements - the number of statements in flight.
   * @param calls - the number of calls that they carry.
   * @param connections - the size of the connection pool.
   */
  hasRoom(statements: number, calls: number, connections: number): boolean {
    const ms = Math.min(this.#fastest, this.#fastestBefore)
    if (statements >= connections) return false
    if (ms < NEAREST_MS) return calls < NEAREST_CALLS
    return ms >= NEAR_MS || statements < NEAR_STATEMENTS
  }
}
