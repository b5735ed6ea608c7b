import { type AshlarError, DeadlineExceeded } from '../../errors.js'
import type { Caller } from '../../call.js'

/** The longest delay a timer takes; a later deadline is as good as none. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** A caller counts from before its headers left, so its clock runs out first: it leaves by so much before our deadline. */
const TRAVEL_MS = 20

type OnEnd = (reason: AshlarError) => void

/**
 * The time that a call has: it ends when the deadline passes, the caller goes away or the server ends it. One timer at most,
 * and a signal that exists only when somebody asks for it.
 */
export class Deadline {
  readonly #caller: Caller
  readonly #stageMs: number
  #timer: NodeJS.Timeout | undefined
  #controller: AbortController | undefined
  #reason: AshlarError | undefined
  #isOver = false
  #isWatched = false
  readonly #watchers = new Set<OnEnd>()

  /**
   * @param at - milliseconds since the epoch, undefined for no deadline.
   * @param caller - who may go away before.
   * @param stageMs - how long one stage may take where there is no deadline, as in a stream.
   */
  constructor(
    readonly at: number | undefined,
    caller: Caller,
    stageMs = Number.POSITIVE_INFINITY,
  ) {
    this.#caller = caller
    this.#stageMs = stageMs
  }

  get expired(): boolean {
    return this.ended?.code === 'DEADLINE_EXCEEDED'
  }

  get cancelled(): boolean {
    return this.#caller.isGone
  }

  /** Why the time is over, as the caller was told; undefined while it is not. */
  get ended(): AshlarError | undefined {
    if (this.#reason !== undefined) return this.#reason
    if (this.#caller.reason !== undefined) this.#reason = this.#whyGone(this.#caller.reason)
    else if (this.at !== undefined && Date.now() >= this.at) this.#reason = new DeadlineExceeded()
    return this.#reason
  }

  /** @throws what the caller was told when the time is over. */
  mustGoOn(): void {
    const { ended } = this
    if (ended !== undefined) throw ended
  }

  /** Aborts when the time is over. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      const { ended } = this
      if (ended === undefined) this.#watch()
      else this.#abort(ended)
    }
    return this.#controller.signal
  }

  /** Calls back when the time is over, at once when it is. @returns what takes that back. */
  onEnd(callback: OnEnd): () => void {
    const { ended } = this
    if (ended === undefined) this.#watch(callback)
    else callback(ended)
    return () => void this.#watchers.delete(callback)
  }

  /**
   * The work, or why the time was over before. Work that does not settle is left behind, and so is its late error.
   * @param isHeard - what the work itself has to say to the end of its time comes first, while a caller hears it.
   */
  bound<T>(work: Promise<T>, isHeard = false): Promise<T> {
    return new Promise((resolve, reject) => {
      const tooLate: OnEnd = (reason) => {
        if (isHeard && !this.cancelled) setImmediate(reject, reason)
        else reject(reason)
      }
      const { ended } = this
      if (ended === undefined) this.#watch(tooLate)
      else tooLate(ended)
      work.then(
        (value) => {
          this.#watchers.delete(tooLate)
          resolve(value)
        },
        (error: unknown) => {
          this.#watchers.delete(tooLate)
          reject(error as Error)
        },
      )
    })
  }

  /** One stage of a call without a deadline of its own; other calls are bounded as a whole. */
  stage<T>(work: Promise<T>): Promise<T> {
    if (this.#stageMs >= LONGEST_TIMER_MS) return work
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new DeadlineExceeded()), this.#stageMs)
      work.then(resolve, reject).finally(() => clearTimeout(timer))
    })
  }

  /** Ends the time before its deadline. */
  end(reason: AshlarError): void {
    if (this.#isOver || this.ended !== undefined) return
    this.#finish(reason)
  }

  /** The call has ended: nothing fires any more. */
  clear(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#watchers.clear()
    if (this.#isWatched) this.#caller.onGone(undefined)
  }

  /** A timer runs only where somebody waits to be told. */
  #watch(callback?: OnEnd): void {
    if (callback !== undefined && !this.#isOver) this.#watchers.add(callback)
    if (this.#isWatched || this.#isOver) return
    this.#isWatched = true
    this.#caller.onGone(() => this.#finish(this.ended as AshlarError))
    const delay = this.at === undefined ? LONGEST_TIMER_MS : this.at - Date.now()
    if (delay >= LONGEST_TIMER_MS) return
    this.#timer = setTimeout(() => this.#finish(this.#reason ?? new DeadlineExceeded()), Math.max(delay, 0))
    // A call has a connection that keeps the process alive; when that was cut, its deadline must not.
    this.#timer.unref()
  }

  #finish(reason: AshlarError): void {
    this.#reason = reason
    clearTimeout(this.#timer)
    this.#abort(reason)
    const watchers = [...this.#watchers]
    this.#watchers.clear()
    for (const callback of watchers) callback(reason)
  }

  /** A caller that went away is the standard AbortError, which says so to whatever listens. */
  #abort(reason: AshlarError): void {
    if (reason.code === 'CANCELLED') this.#controller?.abort()
    else this.#controller?.abort(reason)
  }

  #whyGone(reason: AshlarError): AshlarError {
    const isExpired = this.at !== undefined && Date.now() >= this.at - TRAVEL_MS
    return isExpired && reason.code === 'CANCELLED' ? new DeadlineExceeded() : reason
  }
}
