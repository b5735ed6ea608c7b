import type { WakeUp } from '../../persistence/outbox/sql/wake-up.js'
import { pause } from './pause.js'

const [BUSY_MS, IDLE_MS] = [20, 1000]

/**
 * Waits between reads of the outbox: 20 ms while there are events, up to a second if there are none, and less
 * if it is woken.
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

  /** Forgets earlier wake-ups. Call it before a read, which includes everything that caused them. */
  begin(): void {
    this.#isWoken = false
  }

  /**
   * Waits before the next read.
   *
   * @param hasFound - true if the read returned events.
   */
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
