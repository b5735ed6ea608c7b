import type { CallEnd } from '../../../call-end.js'
import { Unavailable } from '../../../errors.js'
import { cancellation } from '../errors/cancellation.js'

/** The number of parts of the maximum wait. If the process is blocked, only one part elapses. */
const PARTS = 4

interface Waiter {
  readonly alone: boolean
  /** The first part of which the caller waits for the whole. */
  readonly from: number
  readonly admit: () => void
  readonly refuse: (error: Error) => void
}

/**
 * Grants turns on a resource, either to several concurrent statements or to one transaction. Turns are
 * granted in order of arrival, so that neither kind starves the other.
 */
export class Turns {
  readonly #waiting: Waiter[] = []
  #inside = 0
  #alone = false
  #closed = false
  #timer: NodeJS.Timeout | undefined
  /** The number of parts that have elapsed while callers waited. */
  #passed = 0
  /** The first part in which no turn ended. */
  #still = 0

  /**
   * @param timeoutMs - the maximum wait in milliseconds while no turn ends. While turns end, callers wait
   *   until their own deadline.
   * @param abreast - the maximum number of concurrent statements.
   */
  constructor(
    private readonly timeoutMs: number,
    private readonly abreast: number,
  ) {}

  /**
   * Waits for a turn. Returns undefined if the caller may proceed immediately.
   *
   * @throws Unavailable if no turn ends within the timeout.
   * @throws Cancelled, DeadlineExceeded
   */
  enter(alone: boolean, signal?: CallEnd): Promise<void> | undefined {
    if (this.#closed) return Promise.reject(closed())
    if (this.#waiting.length === 0 && this.#takes(alone)) return undefined
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        alone,
        from: this.#begun,
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
    this.#still = this.#begun
    if (this.#waiting.length > 0) this.#next()
  }

  /** Rejects all waiting and future callers. */
  close(): void {
    this.#closed = true
    for (const waiter of this.#waiting.splice(0)) waiter.refuse(closed())
    clearTimeout(this.#timer)
  }

  /** Takes a turn if one is free. */
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

  /** The number of the part that begins next. */
  get #begun(): number {
    return this.#timer === undefined ? this.#passed : this.#passed + 1
  }

  /** Starts one timer for the whole queue; the first caller has waited longest. */
  #watch(): void {
    if (this.#waiting.length === 0) return
    if (this.#timer !== undefined) {
      this.#timer.ref()
      return
    }
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        this.#passed++
        if (this.#passed - this.#still >= PARTS) this.#refuseLate()
        this.#watch()
      },
      Math.max(1, this.timeoutMs / PARTS),
    )
  }

  #refuseLate(): void {
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      if (this.#passed - first.from < PARTS) break
      this.#waiting.shift()
      first.refuse(
        new Unavailable(`the database was busy with another transaction for ${this.timeoutMs} ms: try again`),
      )
    }
    this.#next()
  }
}

const closed = () => new Unavailable('the database is closed')
