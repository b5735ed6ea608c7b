/** The time in milliseconds for which a nested transaction without calls may block others. */
export const NESTED_IDLE_MS = 5000

/**
 * Runs the calls of a transaction one after another. While a nested transaction is open, calls of the outer
 * one wait, so that a rollback of the nested one cannot undo them. If the nested transaction waited for such
 * a call, both would wait forever. So a nested transaction without calls blocks others only for a limited
 * time.
 */
export class TransactionQueue {
  #last: Promise<unknown> = Promise.resolve()
  /** Functions that reject the waiting calls. */
  readonly #waiting = new Set<(error: Error) => void>()
  #running = 0
  #finished = 0
  /** The queue of the open nested transaction. */
  #nested: TransactionQueue | undefined
  #timer: NodeJS.Timeout | undefined

  /**
   * Queues a call and returns its result.
   *
   * @throws TypeError if a nested transaction blocks this call and may be waiting for it.
   */
  run<T>(work: () => T | Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let isRefused = false
      const refuse = (error: Error) => {
        isRefused = true
        reject(error)
      }
      this.#waiting.add(refuse)
      this.#last = this.#last.then(async () => {
        this.#waiting.delete(refuse)
        if (isRefused) return
        this.#running++
        try {
          resolve(await work())
        } catch (error) {
          reject(error as Error)
        } finally {
          this.#running--
          this.#finished++
        }
      })
      if (this.#nested !== undefined) this.#watch()
    })
  }

  /** Runs a nested transaction, whose calls go through a queue of their own. */
  runNested<T>(work: (queue: TransactionQueue) => Promise<T>): Promise<T> {
    return this.run(async () => {
      const nested = new TransactionQueue()
      this.#nested = nested
      if (this.#waiting.size > 0) this.#watch()
      try {
        return await work(nested)
      } finally {
        this.#nested = undefined
        clearTimeout(this.#timer)
        this.#timer = undefined
      }
    })
  }

  /** Resolves when all earlier calls have settled. */
  async settled(): Promise<void> {
    await this.#last
  }

  get #isBusy(): boolean {
    return this.#nested === undefined ? this.#running > 0 : this.#nested.#isBusy
  }

  get #progress(): number {
    return this.#finished + (this.#nested === undefined ? 0 : this.#nested.#progress)
  }

  #watch(): void {
    if (this.#timer !== undefined) return
    const progress = this.#progress
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.#nested === undefined || this.#waiting.size === 0) return
      if (this.#isBusy || this.#progress !== progress) return this.#watch()
      for (const refuse of this.#waiting) refuse(new TypeError(HELD_UP))
      this.#waiting.clear()
    }, NESTED_IDLE_MS)
  }
}

const HELD_UP = `a call of the enclosing transaction waited ${NESTED_IDLE_MS} ms for a nested transaction that made no call, and that may be waiting for this call: make the call in the context of the nested transaction, and do not await in it what was started outside`
