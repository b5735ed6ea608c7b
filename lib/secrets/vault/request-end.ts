/** The end of a call: by its time limit, or by its caller's signal. */
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

  /** Milliseconds until the time is over. */
  get leftMs(): number {
    return this.#endsAt - performance.now()
  }

  /** Has `cancel` called when the call ends, in place of what was to be called before. */
  onEnd(cancel: () => void): void {
    this.#cancel = cancel
    if (this.#isOver) cancel()
  }

  /** For functions that take one. It costs more than `onEnd`, and is made at its first use. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#isOver) this.#controller.abort()
    return this.#controller.signal
  }

  /** The call has its response. */
  close(): void {
    clearTimeout(this.#timer)
    this.outer?.removeEventListener('abort', this.#end)
  }
}
