/** The maximum number of calls in one statement. */
const MAX_CALLS = 128

/** The maximum bytes of values in one statement. A single call may exceed it. */
const MAX_BYTES = 256 * 1024

export interface WaitingCall {
  /** Calls of different groups never share a statement. */
  readonly group: string
  /** The tenant with which the call takes turns. */
  readonly tenant?: string
  /** The size of the call's values in bytes. */
  readonly bytes: number
  /** Calls for the same row never share a statement. The later call waits for the next one. */
  readonly row?: string | undefined
}

/**
 * The waiting calls of one group. Tenants take turns. Each tenant's calls are in order of arrival, except
 * that a call for a row with an earlier call waits behind that call.
 */
export class WaitingCalls<C extends WaitingCall> {
  /** The calls by tenant. The first tenant is the next one to be served. */
  readonly #calls = new Map<string | undefined, Set<C>>()
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
    this.#append(call)
  }

  remove(call: C): void {
    const calls = this.#calls.get(call.tenant)
    if (calls?.delete(call) !== true) return void this.#behind.get(call.row ?? '')?.delete(call)
    if (calls.size === 0) this.#calls.delete(call.tenant)
    this.#follow(call)
  }

  /** Removes and returns as many calls as fit in one statement. */
  take(): readonly C[] {
    const calls = this.#first()
    for (const { tenant } of calls) this.#moveToEnd(tenant)
    for (const call of calls) this.remove(call)
    return calls
  }

  #first(): readonly C[] {
    const calls: C[] = []
    const turns: Iterator<C, undefined>[] = []
    for (const waiting of this.#calls.values()) if (turns.push(waiting.values()) === MAX_CALLS) break
    let bytes = 0
    for (const turn of turns) {
      const { value: call } = turn.next()
      if (call === undefined) continue
      bytes += call.bytes
      if (calls.length === MAX_CALLS || (calls.length > 0 && bytes > MAX_BYTES)) break
      calls.push(call)
      turns.push(turn)
    }
    return calls
  }

  #moveToEnd(tenant: string | undefined): void {
    const calls = this.#calls.get(tenant)
    if (calls === undefined || this.#calls.size === 1) return
    this.#calls.delete(tenant)
    this.#calls.set(tenant, calls)
  }

  #append(call: C): void {
    const calls = this.#calls.get(call.tenant)
    if (calls === undefined) this.#calls.set(call.tenant, new Set([call]))
    else calls.add(call)
  }

  /** Adds the call that waited behind a removed call to the end of the queue. */
  #follow({ row }: C): void {
    const behind = row === undefined ? undefined : this.#behind.get(row)
    if (row === undefined || behind === undefined) return
    const [next] = behind
    if (next === undefined) return void this.#behind.delete(row)
    behind.delete(next)
    this.#append(next)
  }
}
