import type { WakeUp } from '../../persistence/outbox/sql/wake-up.js'
import { pause } from './pause.js'

const [BUSY_MS, IDLE_MS] = [20, 1000]

/**
 * Waits between reads of the outbox: 20 ms while there are events, up to a second when there are none, and
 * less when it is woken up.
 */
export class Poll {
  #waitMs = BUSY_MS
  #isWoken = false
  #wake: () => void = () => {}
  readonly end: () => void

  constructor(wakeUp: WakeUp) {
    this.end = wakeUp.listen(() => {
      this.#isWoken = true
      this.#wake()
    })
  }

  /** Before a read, which sees what came earlier. */
  begin(): void {
    this.#isWoken = false
  }

  /** @param hasFound - whether the read has found something. */
  async wait(hasFound: boolean, signal: AbortSignal): Promise<void> {
    if (hasFound) {
      this.#waitMs = BUSY_MS
      return
    }
    if (this.#isWoken) return
    const woken = new Promise<void>((resolve) => (this.#wake = resolve))
    await pause(this.#waitMs, signal, woken)
    this.#waitMs = Math.min(this.#waitMs * 2, IDLE_MS)
  }
}
