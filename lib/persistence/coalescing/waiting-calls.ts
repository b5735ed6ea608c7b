/** The most calls of one statement. */
const MAX_CALLS = 128

/** The most bytes of values in one statement; a single call may have more. */
const MAX_BYTES = 256 * 1024

/** A call that can share a statement. */
export interface WaitingCall {
  /** Calls of different groups never share one. */
  readonly group: string
  /** The size of its values. */
  readonly bytes: number
  /** Calls with the same one never share one, either: the later one waits for the next. */
  readonly row?: string | undefined
}

/** The calls of one group in their order. Those for a row that an earlier one is for stand behind it. */
export class WaitingCalls<C extends WaitingCall> {
  readonly #calls = new Set<C>()
  readonly #behind = new Map<string, Set<C>>()

  get isEmpty(): boolean {
    return this.#calls.size === 0
  }

  add(call: C): void {
    const { row } = call
    if (row !== undefined) {
      const behind = this.#behind.get(row)
      if (behind !== undefined) return void behind.add(call)
      this.#behind.set(row, new Set())
    }
    this.#calls.add(call)
  }

  remove(call: C): void {
    if (!this.#calls.delete(call)) return void this.#behind.get(call.row ?? '')?.delete(call)
    this.#follow(call)
  }

  /** As many as fit, first come, first served. */
  take(): readonly C[] {
    const calls: C[] = []
    let bytes = 0
    for (const call of this.#calls) {
      bytes += call.bytes
      if (calls.length === MAX_CALLS || (calls.length > 0 && bytes > MAX_BYTES)) break
      calls.push(call)
    }
    for (const call of calls) this.#calls.delete(call)
    for (const call of calls) this.#follow(call)
    return calls
  }

  /** The calls that waited for a completed call go to the end. */
  #follow({ row }: C): void {
    const behind = row === undefined ? undefined : this.#behind.get(row)
    if (row === undefined || behind === undefined) return
    const [next] = behind
    if (next === undefined) return void this.#behind.delete(row)
    behind.delete(next)
    this.#calls.add(next)
  }
}
