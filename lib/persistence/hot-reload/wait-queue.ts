import { Unavailable } from '../../errors.js'

export type Handed<C> = (error: Error | undefined, client: C | undefined) => void

interface Waiter<C> {
  readonly done: Handed<C>
  /** The timer that ends a caller's wait. */
  late?: NodeJS.Timeout
  /** The timer that ends the wait for a new DSN. */
  refused?: NodeJS.Timeout
}

export interface WaitingOptions {
  /** The maximum time in milliseconds that a caller waits. 0 means no limit. */
  readonly waitMs: number
  /** The maximum time in milliseconds that a caller waits while the server rejects the login. */
  readonly loginGraceMs: number
}

/** The callers that wait for a session, in order of arrival. */
export class WaitQueue<C> {
  readonly #waiters: Waiter<C>[] = []

  constructor(private readonly options: WaitingOptions) {}

  get length(): number {
    return this.#waiters.length
  }

  /**
   * Adds a caller.
   *
   * @param refusal - the server's error while it rejects logins.
   */
  join(done: Handed<C>, refusal: Error | undefined): void {
    const waiter: Waiter<C> = { done }
    const { waitMs } = this.options
    if (waitMs > 0) {
      waiter.late = setTimeout(() => {
        this.#refuse(waiter, new Unavailable(`no connection became free in ${waitMs} ms`))
      }, waitMs)
    }
    this.#waiters.push(waiter)
    if (refusal !== undefined) this.#limit(waiter, refusal)
  }

  /** Removes and returns the next caller to serve. */
  shift(): Handed<C> | undefined {
    const waiter = this.#waiters.shift()
    if (waiter === undefined) return undefined
    settle(waiter)
    return waiter.done
  }

  /** Limits every wait to the grace time. */
  limit(refusal: Error): void {
    for (const waiter of this.#waiters) this.#limit(waiter, refusal)
  }

  /** Removes this limit. */
  forgive(): void {
    for (const waiter of this.#waiters) {
      clearTimeout(waiter.refused)
      delete waiter.refused
    }
  }

  refuseAll(reason: Error): void {
    for (const waiter of this.#waiters.splice(0)) {
      settle(waiter)
      waiter.done(reason, undefined)
    }
  }

  #limit(waiter: Waiter<C>, refusal: Error): void {
    waiter.refused ??= setTimeout(() => this.#refuse(waiter, refusal), this.options.loginGraceMs)
  }

  #refuse(waiter: Waiter<C>, reason: Error): void {
    settle(waiter)
    this.#waiters.splice(this.#waiters.indexOf(waiter), 1)
    waiter.done(reason, undefined)
  }
}

function settle<C>({ late, refused }: Waiter<C>): void {
  clearTimeout(late)
  clearTimeout(refused)
}
