/** The maximum number of calls in one statement. */
const MAX_CALLS = 128

/** The maximum bytes of values in one statement. A single call may exceed it. */
const MAX_BYTES = 256 * 1024

export interface WaitingCall {
  /** Calls of different groups never share a statement. */
  readonly group: string
  /** The size of the call's values in bytes. */
  readonly bytes: number
  /** Calls for the same row never share a statement. The later call waits for the next one. */
  readonly row?: string | undefined
}

/**
 * The waiting calls of one group in order of arrival. A call for a row with an earlier call waits behind it.
 */
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

  /** Removes and returns as many calls as fit in one statement, in order of arrival. */
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

  /** Moves calls that waited behind a removed call to the end of the queue. */
  #follow({ row }: C): void {
    const behind = row === undefined ? undefined : this.#behind.get(row)
    if (row === undefined || behind === undefined) return
    const [next] = behind
    if (next === undefined) return void this.#behind.delete(row)
    behind.delete(next)
    this.#calls.add(next)
  }
}
