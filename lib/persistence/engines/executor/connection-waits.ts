import type { CallEnd } from '../../../call-end.js'
import { Unavailable } from '../../../errors.js'
import { cancellation } from '../errors/cancellation.js'
import { type HeldConnection, holdersAround, type OpenTransaction } from '../../contract/open-transaction.js'

/**
 * Milliseconds a caller waits for a connection, and a new connection for the server, regardless of the
 * DataSource's options.
 */
export const CONNECT_MS = 10_000

/** Milliseconds without activity after which callers that hold all connections are rejected. */
const STILL_MS = 100
const LOOKS = 4

/** The facts about a pool that concern its waiting callers. */
export interface WaitedPool {
  readonly database: object
  /** The maximum number of open connections. */
  readonly size: number
  /** The number of connections that calls hold. */
  readonly used: number
}

interface Wait {
  readonly since: number
  /** Transactions that hold a connection of the same pool and, as far as is known, wait for this caller. */
  readonly holders: readonly OpenTransaction[]
  readonly refuse: (error: Error) => void
}

/**
 * The error of a caller that holds a connection and waits for another one, while every other connection is
 * held by a caller that also waits.
 */
export class ConnectionsHeld extends Unavailable {}

/**
 * The callers that wait for a connection of a pool. Every wait ends, regardless of how the driver's pool
 * behaves.
 */
export class ConnectionWaits {
  readonly #waits = new Set<Wait>()
  #timer: NodeJS.Timeout | undefined
  #look: NodeJS.Timeout | undefined

  /** @param limitMs - the maximum wait; 0 if other code ends it. */
  constructor(
    private readonly pool: WaitedPool,
    private readonly limitMs = CONNECT_MS,
  ) {}

  /**
   * Begins a wait.
   * @param refuse - called with Unavailable when the caller has waited for too long, or would wait in vain.
   * @returns a function that ends the wait.
   */
  begin(refuse: (error: Error) => void): () => void {
    const wait: Wait = { since: performance.now(), holders: holdersAround(this.pool.database), refuse }
    this.#waits.add(wait)
    this.#timer ??= this.limitMs === 0 ? undefined : this.#refuseLateIn(this.limitMs)
    if (wait.holders.length > 0) this.#lookSoon()
    return () => void this.#waits.delete(wait)
  }

  /** True if a caller might wait for itself because it runs inside a transaction that holds a connection. */
  get isNeeded(): boolean {
    return holdersAround(this.pool.database).length > 0
  }

  /**
   * Waits as `enter` does, unless the caller would wait for itself.
   * @param enter - waits until the signal aborts.
   */
  wait<R extends Promise<unknown> | undefined>(
    enter: (signal: CallEnd | undefined) => R,
    signal: CallEnd | undefined,
  ): R {
    return this.isNeeded ? (this.#waitHolding(enter, signal) as R) : enter(signal)
  }

  async #waitHolding(
    enter: (signal: CallEnd) => Promise<unknown> | undefined,
    signal: CallEnd | undefined,
  ): Promise<unknown> {
    const refused = new AbortController()
    const abort = () => refused.abort(cancellation(signal))
    signal?.addEventListener('abort', abort, { once: true })
    if (signal?.aborted === true) abort()
    const end = this.begin((error) => refused.abort(error))
    try {
      return await enter(refused.signal)
    } finally {
      end()
      signal?.removeEventListener('abort', abort)
    }
  }

  /** Describes the pool's state, for the error of a caller that gets no connection. */
  get state(): string {
    const { size, used } = this.pool
    return used < size
      ? 'the database accepts none, or other code uses the rest of the pool'
      : `all ${size} are in use: raise poolSize, or look for transactions that take long`
  }

  /** One timer for all callers: the first one has waited longest. */
  #refuseLateIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#timer = undefined
      const late = performance.now() - this.limitMs
      for (const wait of this.#waits) {
        if (wait.since > late) {
          this.#timer = this.#refuseLateIn(wait.since - late)
          return
        }
        const why = `no connection to the database within ${this.limitMs / 1000} s: ${this.state}`
        this.#refuse(wait, new Unavailable(why, this.#cause))
      }
    }, Math.ceil(ms)).unref()
  }

  /** Returns all connections if transactions around waiting callers hold every one of them. */
  get #held(): ReadonlySet<HeldConnection> | undefined {
    const held = new Set<HeldConnection>()
    for (const { holders } of this.#waits)
      for (const { isOver, held: connection } of holders)
        if (!isOver && connection !== undefined) held.add(connection)
    return held.size < this.pool.size ? undefined : held
  }

  /**
   * Rejects the callers whose transactions hold all connections, if nothing happens on the connections for a
   * while. A transaction that still sends statements does not wait for its caller, and will return its
   * connection.
   */
  #lookSoon(): void {
    const held = this.#held
    if (this.#look === undefined && held !== undefined) this.#lookAgain(held, usesOf(held), LOOKS)
  }

  /** Checks several times: if the process itself was blocked, a single timer would find nothing changed. */
  #lookAgain(before: ReadonlySet<HeldConnection>, uses: number, looks: number): void {
    this.#look = setTimeout(() => {
      this.#look = undefined
      const held = this.#held
      if (held === undefined) return
      if (usesOf(held) !== uses || ![...held].every((one) => before.has(one) && one.running === 0))
        return this.#lookSoon()
      if (looks > 1) return this.#lookAgain(before, uses, looks - 1)
      const why = this.#whyHeld
      for (const wait of this.#waits)
        if (wait.holders.length > 0) this.#refuse(wait, new ConnectionsHeld(why, this.#cause))
    }, STILL_MS / LOOKS)
  }

  get #whyHeld(): string {
    const { size } = this.pool
    const who =
      size === 1
        ? 'the only connection to the database is used by a call that waits for another connection'
        : `all ${size} connections to the database are used by calls that wait for another connection`
    return `${who}: make such calls inside the transaction${this.limitMs === 0 ? '' : ', or raise poolSize'}`
  }

  get #cause(): Error {
    return new Error(`the pool has ${this.pool.size} connections`)
  }

  #refuse(wait: Wait, error: Error): void {
    this.#waits.delete(wait)
    wait.refuse(error)
  }
}

const usesOf = (held: ReadonlySet<HeldConnection>): number => {
  let uses = 0
  for (const connection of held) uses += connection.uses
  return uses
}
