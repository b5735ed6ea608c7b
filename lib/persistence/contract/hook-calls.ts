import type { RequestContext } from '../../context.js'

/**
 * The repository calls that the hooks of one operation make. The operation waits for all of them, and no
 * rejection is unhandled.
 */
export class HookCalls {
  readonly #running = new Map<Promise<unknown>, string>()
  #isOver = false

  /** Returns the call's promise for the hook, which the hook might not await. */
  track<T>(name: string, call: Promise<T>, context: RequestContext): Promise<T> {
    if (this.#isOver) {
      call.catch((error: unknown) =>
        context.reportFailure(
          `${name} was called after the hook that made the call had returned, and failed`,
          error,
        ),
      )
      return call
    }
    const given: Promise<T> = call.finally(() => this.#running.delete(given))
    this.#running.set(given, name)
    return given
  }

  get isRunning(): boolean {
    return this.#running.size > 0
  }

  /**
   * Waits for calls that a hook did not await, and then throws.
   *
   * @throws TypeError with the names of these calls.
   */
  async refuse(hook: string): Promise<void> {
    const names = [...new Set(this.#running.values())]
    await this.abandon()
    throw new TypeError(
      `${hook} did not await ${names.join(', ')}: await it in the hook, or return its promise`,
    )
  }

  /** Waits for the remaining calls of a failed hook. */
  async abandon(): Promise<void> {
    await Promise.allSettled(this.#running.keys())
  }

  /** Records that the operation calls no further hook. */
  over(): void {
    this.#isOver = true
  }
}
