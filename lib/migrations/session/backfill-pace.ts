/** The maximum intended duration of a chunk in milliseconds. */
const GOAL_MS = 250
const FIRST_ROWS = 100
const LONGEST_PAUSE_MS = 5_000
const FIRST_PAUSE_MS = 100

/**
 * Computes the number of rows of a backfill's next chunk, and the pause before it. Slow chunks indicate that
 * other clients need the server.
 */
export class Pace {
  #rows: number
  #pauseMs = 0

  /**
   * @param most - the maximum number of rows in a chunk.
   */
  constructor(private readonly most: number) {
    this.#rows = Math.min(FIRST_ROWS, most)
  }

  get rows(): number {
    return this.#rows
  }

  get pauseMs(): number {
    return this.#pauseMs
  }

  /**
   * Records that a chunk was written. A slow chunk is followed by a pause of the same length and a smaller
   * chunk.
   */
  written(ms: number): void {
    const isSlow = ms > GOAL_MS
    this.#pauseMs = isSlow ? Math.min(ms, LONGEST_PAUSE_MS) : 0
    if (isSlow) this.#rows = Math.max(1, Math.floor((this.#rows * GOAL_MS) / ms))
    else if (ms < GOAL_MS / 2) this.#rows = Math.min(this.most, this.#rows * 2)
  }

  /** Records that a chunk had to wait for another client's lock. */
  blocked(): void {
    this.#rows = Math.max(1, Math.floor(this.#rows / 2))
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, this.#pauseMs * 2))
  }
}
