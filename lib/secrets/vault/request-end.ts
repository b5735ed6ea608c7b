/** Ends a call at its time limit or when its caller's signal aborts. */
export class RequestEnd {
  #isOver = false
  #cancel: (() => void) | undefined
  #controller: AbortController | undefined
  readonly #timer: NodeJS.Timeout
  readonly #endsAt: number
  readonly #end = (): void => {
    this.#isOver = true
    this.#controller?.abort()
    this.#cancel?.()
  }

  constructor(
    timeoutMs: number,
    private readonly outer?: AbortSignal,
  ) {
    this.#timer = setTimeout(this.#end, timeoutMs)
    this.#endsAt = performance.now() + timeoutMs
    outer?.addEventListener('abort', this.#end, { once: true })
    if (outer?.aborted === true) this.#end()
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** The remaining milliseconds. */
  get leftMs(): number {
    return this.#endsAt - performance.now()
  }

  /** Sets the function that is called when the call ends, replacing the previous one. */
  onEnd(cancel: () => void): void {
    this.#cancel = cancel
    if (this.#isOver) cancel()
  }

  /**
   * A signal for functions that need one. Creating it takes longer than `onEnd`, so it is created on first
   * use.
   */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#isOver) this.#controller.abort()
    return this.#controller.signal
  }

  /** Records that the call has its response. */
  close(): void {
    clearTimeout(this.#timer)
    this.outer?.removeEventListener('abort', this.#end)
  }
}
