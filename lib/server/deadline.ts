import { DeadlineExceeded } from '../errors.js'
import type { Caller } from './call.js'

/** The longest delay a timer takes; a later deadline is as good as none. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** The instant a call must end by: one timer at most, and a signal that exists only when somebody asks for it. */
export class Deadline {
  readonly #caller: Caller
  #timer: NodeJS.Timeout | undefined
  #controller: AbortController | undefined
  #expired = false
  #isOver = false
  #onExpire: (() => void) | undefined

  /**
   * @param at - milliseconds since the epoch, undefined for no deadline.
   * @param caller - who may go away before.
   */
  constructor(
    readonly at: number | undefined,
    caller: Caller,
  ) {
    this.#caller = caller
  }

  get expired(): boolean {
    return this.#expired || (this.at !== undefined && Date.now() >= this.at)
  }

  get cancelled(): boolean {
    return this.#caller.isGone
  }

  /** A timer runs only where somebody waits to be told. */
  #watch(): void {
    if (this.at === undefined || this.#timer !== undefined || this.#isOver) return
    const delay = this.at - Date.now()
    if (delay >= LONGEST_TIMER_MS) return
    this.#timer = setTimeout(() => this.#expire(), Math.max(delay, 0))
    // A call has a connection that keeps the process alive; when that was cut, its deadline must not.
    this.#timer.unref()
  }

  /** Aborts when the deadline passed or the caller went away. */
  get signal(): AbortSignal {
    if (this.at === undefined) return this.#caller.signal
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      this.#watch()
      if (this.expired) this.#controller.abort(new DeadlineExceeded())
      else if (this.#caller.isGone) this.#controller.abort()
      else this.#caller.onGone(() => this.#controller?.abort())
    }
    return this.#controller.signal
  }

  /** Calls back when the deadline passes, at once when it has; there is room for one. */
  onExpire(callback: () => void): void {
    if (this.expired) return callback()
    this.#onExpire = callback
    this.#watch()
  }

  /** The call has ended: nothing fires any more. */
  clear(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#onExpire = undefined
    if (this.#controller !== undefined) this.#caller.onGone(undefined)
  }

  #expire(): void {
    this.#expired = true
    this.#controller?.abort(new DeadlineExceeded())
    this.#onExpire?.()
  }
}
