import { RoundTrip } from './round-trip.js'
import { type WaitingCall, WaitingCalls } from './waiting-calls.js'

/**
 * A slower statement does not hold back waiting calls. It may itself be waiting for a connection or a dead
 * network.
 */
const SLOW_MS = 20

/** A slot for one statement in flight. */
export interface Slot {
  readonly since: number
  /** The number of calls that the statement carries. */
  calls: number
}

export interface QueueClock {
  /** Returns a monotonic time in milliseconds. */
  now(): number
  after(ms: number, fn: () => void): void
  /** Runs `fn` after the callbacks of all results that have arrived. */
  soon(fn: () => void): void
}

const CLOCK: QueueClock = {
  now: () => performance.now(),
  after: (ms, fn) => void setTimeout(fn, ms),
  soon: (fn) => void setImmediate(fn),
}

/**
 * Decides when calls of one kind are sent and which of them share a statement. While few statements are in
 * flight, a call is sent immediately. Otherwise it waits for a free slot, which takes as many waiting calls
 * as fit, in order of arrival. A call never waits for others to join it.
 */
export class CallQueue<C extends WaitingCall> {
  /** The waiting calls by group. The group that has waited longest comes first. */
  readonly #groups = new Map<string, WaitingCalls<C>>()
  readonly #roundTrip = new RoundTrip()
  #slots: Slot[] = []
  #isWatching = false
  /** True while the only call in flight has no slot. The call gets a slot when a second call arrives. */
  #isLone = false
  #lone: Slot | undefined

  /**
   * @param connections - returns the size of the connection pool.
   * @param send - sends waiting calls together and settles them. Never rejects. Resolves to true if the
   *   statement
   * succeeded.
   */
  constructor(
    private readonly connections: () => number,
    private readonly send: (calls: readonly C[]) => Promise<boolean>,
    private readonly clock: QueueClock = CLOCK,
  ) {}

  /**
   * Returns true if no other call is in flight, so that this call needs neither a slot nor a timer. Call
   * `completed` when it ends.
   */
  passes(): boolean {
    if (this.#isLone || this.#slots.length > 0 || this.#groups.size > 0) return false
    this.#isLone = true
    return true
  }

  /** Ends a call for which `passes` returned true. */
  readonly completed = (): void => {
    const slot = this.#lone
    this.#isLone = false
    this.#lone = undefined
    if (slot !== undefined) this.#free(slot)
  }

  /**
   * Returns a slot for a call that can be sent immediately, or undefined if it has to wait. Release the slot
   * with `leave`.
   */
  enter(): Slot | undefined {
    return this.#groups.size > 0 ? undefined : this.#take()
  }

  /** Queues a call until a slot is free. */
  wait(call: C): void {
    let group = this.#groups.get(call.group)
    if (group === undefined) this.#groups.set(call.group, (group = new WaitingCalls()))
    group.add(call)
    this.#sendWaiting()
  }

  /** Removes a call from the queue. */
  remove(call: C): void {
    const group = this.#groups.get(call.group)
    group?.remove(call)
    if (group?.isEmpty === true) this.#groups.delete(call.group)
  }

  /**
   * Releases the slot of a statement that has ended.
   *
   * @param calls - the number of calls of a successful statement, or undefined after a failure.
   */
  leave(slot: Slot, calls: number | undefined): void {
    this.#measure(slot, calls)
    this.#free(slot)
  }

  #measure(slot: Slot, calls: number | undefined): void {
    if (calls !== undefined) this.#roundTrip.took(this.clock.now() - slot.since, calls)
  }

  #free(slot: Slot): void {
    const index = this.#slots.indexOf(slot)
    if (index >= 0) this.#slots.splice(index, 1)
    if (this.#groups.size > 0) this.#sendWaiting()
  }

  #take(): Slot | undefined {
    const since = this.clock.now()
    if (this.#isLone && this.#lone === undefined) this.#slots.push((this.#lone = { since, calls: 1 }))
    if (!this.#hasRoom()) {
      this.#slots = this.#slots.filter((slot) => since - slot.since < SLOW_MS)
      if (!this.#hasRoom()) return undefined
    }
    const slot = { since, calls: 1 }
    this.#slots.push(slot)
    return slot
  }

  #hasRoom(): boolean {
    let calls = 0
    for (const slot of this.#slots) calls += slot.calls
    return this.#roundTrip.hasRoom(this.#slots.length, calls, this.connections())
  }

  #sendWaiting(): void {
    while (this.#groups.size > 0) {
      const slot = this.#take()
      if (slot === undefined) return this.#watch()
      const calls = this.#next()
      slot.calls = calls.length
      void this.send(calls).then((succeeded) => {
        this.#measure(slot, succeeded ? calls.length : undefined)
        // Free the slot later, so that calls that the callers make in response share the next statement.
        this.clock.soon(() => this.#free(slot))
      })
    }
  }

  /** Removes and returns as many calls of the first group as fit. The rest of the group moves to the end. */
  #next(): readonly C[] {
    for (const [name, group] of this.#groups) {
      const calls = group.take()
      this.#groups.delete(name)
      if (!group.isEmpty) this.#groups.set(name, group)
      return calls
    }
    return []
  }

  /** Checks the queue again when the oldest statement becomes slow. */
  #watch(): void {
    const [oldest] = this.#slots
    if (this.#isWatching || oldest === undefined) return
    this.#isWatching = true
    this.clock.after(Math.max(1, oldest.since + SLOW_MS - this.clock.now()), () => {
      this.#isWatching = false
      this.#sendWaiting()
    })
  }
}
