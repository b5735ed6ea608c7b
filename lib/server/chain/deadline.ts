import { type AshlarError, DeadlineExceeded } from '../../errors.js'
import type { Caller, Incoming } from '../../call.js'
import type { CallEnd } from '../../call-end.js'
import type { Method } from './method.js'
import { MAX_TIMER_MS } from '../../bounds/timer-limit.js'

/**
 * A caller's clock starts before its headers are sent, so its deadline passes before the server's. A
 * disconnect that comes at most this long before the server's deadline counts as an expired deadline.
 */
const TRAVEL_MS = 20

type OnEnd = (reason: AshlarError) => void

/**
 * The remaining time of a call. It ends when the deadline passes, the client disconnects or the server ends
 * it. It uses at most one timer, and creates an AbortSignal only on demand.
 */
export class Deadline implements CallEnd {
  readonly #caller: Caller
  readonly #stepMs: number
  #timer: NodeJS.Timeout | undefined
  #controller: AbortController | undefined
  #reason: AshlarError | undefined
  #isOver = false
  #isWatched = false
  readonly #watchers = new Set<OnEnd>()
  readonly #open: Deadline[]
  #place: number

  /**
   * @param at - milliseconds since the epoch; undefined for no deadline.
   * @param caller - the client, which may disconnect earlier.
   * @param open - the deadlines of all running calls; this one is included until `clear`. An array, because
   *   V8 allocates a new table for a `Set` every few calls, and each old table keeps its calls alive until
   *   the old generation is collected.
   * @param stepMs - the limit of one step if there is no deadline, as in a stream.
   */
  constructor(
    readonly at: number | undefined,
    caller: Caller,
    stepMs = Number.POSITIVE_INFINITY,
    open: Deadline[] = [],
  ) {
    this.#caller = caller
    this.#open = open
    this.#place = open.push(this) - 1
    this.#stepMs = stepMs
  }

  /**
   * Returns the deadline of a call: the earlier of the caller's deadline and the method's timeout. A stream
   * has only the caller's deadline; without one, the timeout limits each step before the handler.
   */
  static of(incoming: Incoming, { isStreaming }: Method, timeoutMs: number, open: Deadline[]): Deadline {
    const { caller, deadline = Number.POSITIVE_INFINITY, since = Date.now() } = incoming
    const at = isStreaming ? deadline : Math.min(deadline, since + timeoutMs)
    return new Deadline(
      Number.isFinite(at) ? at : undefined,
      caller,
      isStreaming ? timeoutMs : undefined,
      open,
    )
  }

  get expired(): boolean {
    return this.ended?.code === 'DEADLINE_EXCEEDED'
  }

  get cancelled(): boolean {
    return this.#caller.isGone
  }

  /** The error that ended the call, as reported to the caller; undefined while the call may continue. */
  get ended(): AshlarError | undefined {
    if (this.#reason !== undefined) return this.#reason
    if (this.#caller.reason !== undefined) this.#reason = this.#whyGone(this.#caller.reason)
    else if (this.at !== undefined && Date.now() >= this.at) this.#reason = new DeadlineExceeded()
    return this.#reason
  }

  /** @throws the error reported to the caller, if the call has ended. */
  mustGoOn(): void {
    const { ended } = this
    if (ended !== undefined) throw ended
  }

  /** True if the call was aborted. A completed call is never aborted. */
  get aborted(): boolean {
    return (this.#isOver ? this.#reason : this.ended) !== undefined
  }

  /** The abort reason, equal to `signal.reason`; undefined for a disconnect. */
  get reason(): AshlarError | undefined {
    return this.#reason?.code === 'CANCELLED' ? undefined : this.#reason
  }

  addEventListener(_: 'abort', listener: () => void): void {
    if (this.ended === undefined) this.#watch(listener)
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    this.#watchers.delete(listener)
  }

  /** Aborts when the deadline passes, the client disconnects or the server ends the call. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      const { ended } = this
      if (ended === undefined) this.#watch()
      else this.#abort(ended)
    }
    return this.#controller.signal
  }

  /**
   * Calls back when the call ends early, or at once if it already has.
   * @returns a function that removes the callback.
   */
  onEnd(callback: OnEnd): () => void {
    const { ended } = this
    if (ended === undefined) this.#watch(callback)
    else callback(ended)
    return () => void this.#watchers.delete(callback)
  }

  /**
   * Waits for the work until the call ends. If the work settles later, its result or error is dropped.
   * @param what - the kind of work. For a `reply` or a `call`, an error of the work takes precedence over an
   *   expired deadline while the client is connected. A `call` also clears the deadline when it settles.
   */
  bound<T>(work: Promise<T>, what: 'step' | 'reply' | 'call' = 'step'): Promise<T> {
    return new Promise((resolve, reject) => {
      const failed = (error: unknown) => {
        if (what === 'call') this.clear()
        else this.#watchers.delete(tooLate)
        reject(error as Error)
      }
      const tooLate: OnEnd = (reason) => {
        if (what !== 'step' && !this.cancelled) setImmediate(failed, reason)
        else failed(reason)
      }
      const { ended } = this
      if (ended === undefined) this.#watch(tooLate)
      else tooLate(ended)
      work.then((value) => {
        if (what === 'call') this.clear()
        else this.#watchers.delete(tooLate)
        resolve(value)
      }, failed)
    })
  }

  /** Limits one step of a call that has no deadline. Other calls are limited as a whole. */
  step<T>(work: Promise<T>): Promise<T> {
    if (this.#stepMs >= MAX_TIMER_MS) return work
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new DeadlineExceeded()), this.#stepMs)
      work.then(resolve, reject).finally(() => clearTimeout(timer))
    })
  }

  /** Ends the call with an error. */
  end(reason: AshlarError): void {
    if (this.#isOver || this.ended !== undefined) return
    this.#finish(reason)
  }

  /** Marks the call as completed. No timer or callback runs afterwards. */
  clear(): void {
    const last = this.#isOver ? undefined : this.#open.pop()
    if (last !== undefined && last !== this) {
      this.#open[this.#place] = last
      last.#place = this.#place
    }
    this.#isOver = true
    clearTimeout(this.#timer)
    // If the call ended early, the other callbacks are still called.
    if (this.#reason === undefined && this.#watchers.size > 0) this.#watchers.clear()
    if (this.#isWatched) this.#caller.onGone(undefined)
  }

  /** Starts a timer only once there is a callback. */
  #watch(callback?: OnEnd): void {
    if (callback !== undefined && !this.#isOver) this.#watchers.add(callback)
    if (this.#isWatched || this.#isOver) return
    this.#isWatched = true
    this.#caller.onGone(() => this.#finish(this.ended as AshlarError))
    const delay = this.at === undefined ? MAX_TIMER_MS : this.at - Date.now()
    if (delay >= MAX_TIMER_MS) return
    this.#timer = setTimeout(() => this.#finish(this.#reason ?? new DeadlineExceeded()), Math.max(delay, 0))
    // The call's connection keeps the process alive. After a disconnect, the timer must not.
    this.#timer.unref()
  }

  #finish(reason: AshlarError): void {
    this.#reason = reason
    clearTimeout(this.#timer)
    this.#abort(reason)
    // Like an AbortSignal, it skips a callback that an earlier one removes.
    for (const callback of this.#watchers) {
      this.#watchers.delete(callback)
      callback(reason)
    }
  }

  /** Aborts the signal. For a disconnect, the reason is the standard AbortError. */
  #abort(reason: AshlarError): void {
    if (reason.code === 'CANCELLED') this.#controller?.abort()
    else this.#controller?.abort(reason)
  }

  #whyGone(reason: AshlarError): AshlarError {
    const isExpired = this.at !== undefined && Date.now() >= this.at - TRAVEL_MS
    return isExpired && reason.code === 'CANCELLED' ? new DeadlineExceeded() : reason
  }
}
