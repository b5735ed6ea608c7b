import type { CallEnd } from '../../../call-end.js'
import { Unavailable } from '../../../errors.js'
import { cancellation } from '../errors/cancellation.js'

interface Waiter {
  readonly alone: boolean
  readonly since: number
  readonly admit: () => void
  readonly refuse: (error: Error) => void
}

/**
 * Turns on a single resource: either several single statements side by side, or one transaction. First come,
 * first served, so that neither kind starves the other.
 */
export class Turns {
  readonly #waiting: Waiter[] = []
  #inside = 0
  #alone = false
  #closed = false
  #timer: NodeJS.Timeout | undefined

  /** @param timeoutMs - the longest wait. @param abreast - how many single statements run at once. */
  constructor(
    private readonly timeoutMs: number,
    private readonly abreast: number,
  ) {}

  /**
   * Waits for a turn; undefined when there is no need to wait.
   * @throws Unavailable after waiting for the timeout. @throws Cancelled, DeadlineExceeded
   */
  enter(alone: boolean, signal?: CallEnd): Promise<void> | undefined {
    if (this.#closed) return Promise.reject(closed())
    if (this.#waiting.length === 0 && this.#takes(alone)) return undefined
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        alone,
        since: Date.now(),
        admit: () => {
          signal?.removeEventListener('abort', leave)
          resolve()
        },
        refuse: (error) => {
          signal?.removeEventListener('abort', leave)
          reject(error)
        },
      }
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
        waiter.refuse(cancellation(signal))
        this.#next()
      }
      if (signal?.aborted === true) return reject(cancellation(signal))
      signal?.addEventListener('abort', leave, { once: true })
      this.#waiting.push(waiter)
      this.#watch()
    })
  }

  /** Ends a turn. */
  readonly leave = (): void => {
    this.#inside--
    this.#alone = false
    if (this.#waiting.length > 0) this.#next()
  }

  /** Refuses all waiting and future callers. */
  close(): void {
    this.#closed = true
    for (const waiter of this.#waiting.splice(0)) waiter.refuse(closed())
    clearTimeout(this.#timer)
  }

  /** Takes a turn, if there is one to be had now. */
  #takes(alone: boolean): boolean {
    const isFree = alone ? this.#inside === 0 : !this.#alone && this.#inside < this.abreast
    if (!isFree) return false
    this.#inside++
    this.#alone = alone
    return true
  }

  #next(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (!this.#takes(first.alone)) return
      this.#waiting.shift()
      first.admit()
    }
    this.#timer?.unref()
  }

  /** One timer for the whole queue: the first caller has waited longest. */
  #watch(): void {
    const first = this.#waiting[0]
    if (first === undefined) return
    if (this.#timer !== undefined) {
      this.#timer.ref()
      return
    }
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        const late = Date.now() - this.timeoutMs
        for (let next = this.#waiting[0]; next !== undefined && next.since <= late; next = this.#waiting[0]) {
          this.#waiting.shift()
          next.refuse(
            new Unavailable(
              `the database was busy with another transaction for ${this.timeoutMs} ms: try again`,
            ),
          )
        }
        this.#next()
        this.#watch()
      },
      Math.max(1, first.since + this.timeoutMs - Date.now()),
    )
  }
}

const closed = () => new Unavailable('the database is closed')
