import { RoundTrip } from './round-trip.js'
import { type WaitingCall, WaitingCalls } from './waiting-calls.js'

/**
 * A statement that takes longer keeps no call waiting: it may be waiting for a connection, or for a dead
 * network.
 */
const SLOW_MS = 20

/** A statement that is in flight. */
export interface Slot {
  readonly since: number
  /** The number of calls it carries. */
  calls: number
}

export interface QueueClock {
  /** Milliseconds; never goes back. */
  now(): number
  after(ms: number, fn: () => void): void
  /** When everything that waits for the results so far has run. */
  soon(fn: () => void): void
}

const CLOCK: QueueClock = {
  now: () => performance.now(),
  after: (ms, fn) => void setTimeout(fn, ms),
  soon: (fn) => void setImmediate(fn),
}

/**
 * Decides when the calls of one shape are sent, and which together. A call goes out at once while few
 * statements are in flight. Beyond that calls wait, and the next free slot takes as many as fit, first come,
 * first served. Nothing waits for company.
 */
export class CallQueue<C extends WaitingCall> {
  /** The group that has waited longest comes first. */
  readonly #groups = new Map<string, WaitingCalls<C>>()
  readonly #roundTrip = new RoundTrip()
  #slots: Slot[] = []
  #isWatching = false
  /** A call is in flight that found no other. It has a slot from when another call comes. */
  #isLone = false
  #lone: Slot | undefined

  /**
   * @param connections - how many the pool may have.
   * @param send - sends calls that have waited, and settles them. It never rejects. Resolves to whether it
   * has succeeded.
   */
  constructor(
    private readonly connections: () => number,
    private readonly send: (calls: readonly C[]) => Promise<boolean>,
    private readonly clock: QueueClock = CLOCK,
  ) {}

  /**
   * True if a call goes out that finds no other. When it has ended, tell it by `landed`: it needs no slot,
   * and no clock.
   */
  passes(): boolean {
    if (this.#isLone || this.#slots.length > 0 || this.#groups.size > 0) return false
    this.#isLone = true
    return true
  }

  /** The call that has passed has ended. */
  readonly completed = (): void => {
    const slot = this.#lone
    this.#isLone = false
    this.#lone = undefined
    if (slot !== undefined) this.#free(slot)
  }

  /**
   * A slot for a call that goes out alone at once; undefined where it has to wait. Give it back with `leave`.
   */
  enter(): Slot | undefined {
    return this.#groups.size > 0 ? undefined : this.#take()
  }

  /** Waits for the next free slot. */
  wait(call: C): void {
    let group = this.#groups.get(call.group)
    if (group === undefined) this.#groups.set(call.group, (group = new WaitingCalls()))
    group.add(call)
    this.#sendWaiting()
  }

  /** Removes a call that still waits. */
  remove(call: C): void {
    const group = this.#groups.get(call.group)
    group?.remove(call)
    if (group?.isEmpty === true) this.#groups.delete(call.group)
  }

  /** The statement has ended. @param calls - how many it carried, where it has succeeded. */
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
        // Callers that call again at once do so together.
        this.clock.soon(() => this.#free(slot))
      })
    }
  }

  /** As many calls as fit. What is left of a group comes after the other groups. */
  #next(): readonly C[] {
    for (const [name, group] of this.#groups) {
      const calls = group.take()
      this.#groups.delete(name)
      if (!group.isEmpty) this.#groups.set(name, group)
      return calls
    }
    return []
  }

  /** Looks again when the oldest statement has become a slow one. */
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
