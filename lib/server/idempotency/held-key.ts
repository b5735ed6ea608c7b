import type { ReplyOrPromise } from '../chain/interceptor.js'

/**
 * An idempotency key that a call holds until its handler has settled, which may be after the caller has
 * received its reply.
 */
export class HeldKey {
  #reply: ReplyOrPromise | undefined = undefined
  #isSettled = false

  /**
   * Records that the handler has started. Its work continues after the call's deadline, and so does the claim
   * on the key.
   */
  runs(reply: ReplyOrPromise): void {
    this.#reply = reply
    this.#isSettled = !(reply instanceof Promise)
    const settle = () => void (this.#isSettled = true)
    if (reply instanceof Promise) reply.then(settle, settle)
  }

  /** The reply of a running handler; undefined before it starts and after it settles. */
  get running(): ReplyOrPromise | undefined {
    return this.#isSettled ? undefined : this.#reply
  }
}
