import { type AshlarError, DeadlineExceeded } from '../../errors.js'
import type { Caller, Incoming } from '../../call.js'
import type { CallEnd } from '../../call-end.js'
import type { Method } from './method.js'
import { MAX_TIMER_MS } from '../../bounds/timer-limit.js'

/**
 * A caller's clock starts before its headers are sent, so its deadline passes first: a disconnect this
 * shortly before our deadline counts as expired.
 */
const TRAVEL_MS = 20

type OnEnd = (reason: AshlarError) => void

/**
 * The time of a call. It ends when the deadline passes, the client disconnects or the server ends it. It has
 * at most one timer, and creates a signal only when one is used.
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
   * @param at - milliseconds since the epoch, undefined for no deadline.
   * @param caller - may disconnect before.
   * @param open - the times of all calls that run; this one is in it until `clear`. An array, because V8
   * gives a `Set` a new table every few calls, and each old table keeps the calls of its day alive until the
   * old generation is collected.
   * @param stepMs - the time of one step when there is no deadline, as in a stream.
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
   * The time of a call: until the sooner of its caller's deadline and the timeout of its method. A stream has
   * its caller's deadline alone; without one, each of its steps before the handler has the timeout.
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

  /**
   * The error with which the time ended, as reported to the caller; undefined while the call may continue.
   */
  get ended(): AshlarError | undefined {
    if (this.#reason !== undefined) return this.#reason
    if (this.#caller.reason !== undefined) this.#reason = this.#whyGone(this.#caller.reason)
    else if (this.at !== undefined && Date.now() >= this.at) this.#reason = new DeadlineExceeded()
    return this.#reason
  }

  /** @throws the error reported to the caller if the time is over. */
  mustGoOn(): void {
    const { ended } = this
    if (ended !== undefined) throw ended
  }

  /** True if the time is over. After the call nothing ends it any more. */
  get aborted(): boolean {
    return (this.#isOver ? this.#reason : this.ended) !== undefined
  }

  /** As the signal has it. */
  get reason(): AshlarError | undefined {
    return this.#reason?.code === 'CANCELLED' ? undefined : this.#reason
  }

  addEventListener(_: 'abort', listener: () => void): void {
    if (this.ended === undefined) this.#watch(listener)
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    this.#watchers.delete(listener)
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

  /**
   * Calls back when the time is over, or at once when it already is. @returns a function that removes the
   * callback.
   */
  onEnd(callback: OnEnd): () => void {
    const { ended } = this
    if (ended === undefined) this.#watch(callback)
    else callback(ended)
    return () => void this.#watchers.delete(callback)
  }

  /**
   * Waits for the work, or until the time is over. The result and error of work that settles later are
   * dropped.
   * @param what - of a `reply`, the work's own error at the end of the time takes precedence, as long as the
   * caller is connected. With the reply of a `call`, its time ends, too.
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

  /** One step of a call without a deadline; other calls have a limit as a whole. */
  step<T>(work: Promise<T>): Promise<T> {
    if (this.#stepMs >= MAX_TIMER_MS) return work
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new DeadlineExceeded()), this.#stepMs)
      work.then(resolve, reject).finally(() => clearTimeout(timer))
    })
  }

  /** Ends the time before its deadline. */
  end(reason: AshlarError): void {
    if (this.#isOver || this.ended !== undefined) return
    this.#finish(reason)
  }

  /** The call has ended: no timer or callback runs any more. */
  clear(): void {
    const last = this.#isOver ? undefined : this.#open.pop()
    if (last !== undefined && last !== this) {
      this.#open[this.#place] = last
      last.#place = this.#place
    }
    this.#isOver = true
    clearTimeout(this.#timer)
    if (this.#watchers.size > 0) this.#watchers.clear()
    if (this.#isWatched) this.#caller.onGone(undefined)
  }

  /** A timer runs only when there is a callback for it. */
  #watch(callback?: OnEnd): void {
    if (callback !== undefined && !this.#isOver) this.#watchers.add(callback)
    if (this.#isWatched || this.#isOver) return
    this.#isWatched = true
    this.#caller.onGone(() => this.#finish(this.ended as AshlarError))
    const delay = this.at === undefined ? MAX_TIMER_MS : this.at - Date.now()
    if (delay >= MAX_TIMER_MS) return
    this.#timer = setTimeout(() => this.#finish(this.#reason ?? new DeadlineExceeded()), Math.max(delay, 0))
    // The connection of a call keeps the process alive. After a disconnect, the deadline must not.
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

  /** For a disconnect, the reason is the standard AbortError. */
  #abort(reason: AshlarError): void {
    if (reason.code === 'CANCELLED') this.#controller?.abort()
    else this.#controller?.abort(reason)
  }

  #whyGone(reason: AshlarError): AshlarError {
    const isExpired = this.at !== undefined && Date.now() >= this.at - TRAVEL_MS
    return isExpired && reason.code === 'CANCELLED' ? new DeadlineExceeded() : reason
  }
}
