import type { ReplyOrPromise } from '../chain/interceptor.js'

/**
 * An idempotency key that a call holds until its handler has settled, which may be after the caller has its
 * reply.
 */
export class HeldKey {
  #reply: ReplyOrPromise | undefined = undefined
  #isSettled = false

  /**
   * The handler has begun. Its work goes on when the time of the call is over, and the key is kept for as
   * long.
   */
  runs(reply: ReplyOrPromise): void {
    this.#reply = reply
    this.#isSettled = !(reply instanceof Promise)
    const settle = () => void (this.#isSettled = true)
    if (reply instanceof Promise) reply.then(settle, settle)
  }

  /** The reply of a handler that has not settled; undefined for none, or before it has begun. */
  get running(): ReplyOrPromise | undefined {
    return this.#isSettled ? undefined : this.#reply
  }
}
