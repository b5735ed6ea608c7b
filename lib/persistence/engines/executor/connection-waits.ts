import type { CallEnd } from '../../../call-end.js'
import { Unavailable } from '../../../errors.js'
import { cancellation } from '../errors/cancellation.js'
import { type HeldConnection, holdersAround, type OpenTransaction } from '../../contract/open-transaction.js'

/**
 * The maximum wait in milliseconds for a connection, and for the server to accept a new one, regardless of
 * the DataSource's options.
 */
export const CONNECT_MS = 10_000

/** Callers that hold all connections are rejected after this time in milliseconds without activity. */
const STILL_MS = 100
const LOOKS = 4

/** The state of a pool that decides about waiting callers. */
export interface WaitedPool {
  readonly database: object
  /** The maximum number of open connections. */
  readonly size: number
  /** The number of connections that calls hold. */
  readonly used: number
}

interface Wait {
  readonly since: number
  /** Transactions that hold a connection of the same pool and presumably wait for this caller. */
  readonly holders: readonly OpenTransaction[]
  readonly refuse: (error: Error) => void
}

/**
 * The error of a caller that holds a connection and waits for another, while waiting callers hold all of
 * them.
 */
export class ConnectionsHeld extends Unavailable {}

/** The callers that wait for a connection of a pool. Limits every wait, independent of the driver's pool. */
export class ConnectionWaits {
  readonly #waits = new Set<Wait>()
  #timer: NodeJS.Timeout | undefined
  #look: NodeJS.Timeout | undefined

  /**
   * @param limitMs - the maximum wait in milliseconds, or 0 if other code limits it.
   */
  constructor(
    private readonly pool: WaitedPool,
    private readonly limitMs = CONNECT_MS,
  ) {}

  /**
   * Begins a wait.
   *
   * @param refuse - receives Unavailable when the caller has waited too long or could never be served.
   * @returns a function that ends the wait.
   */
  begin(refuse: (error: Error) => void): () => void {
    const wait: Wait = { since: performance.now(), holders: holdersAround(this.pool.database), refuse }
    this.#waits.add(wait)
    this.#timer ??= this.limitMs === 0 ? undefined : this.#refuseLateIn(this.limitMs)
    if (wait.holders.length > 0) this.#lookSoon()
    return () => void this.#waits.delete(wait)
  }

  /** True if a caller might wait for itself, because it runs in a transaction that holds a connection. */
  get isNeeded(): boolean {
    return holdersAround(this.pool.database).length > 0
  }

  /**
   * Calls `enter`, and waits unless the caller would wait for itself.
   *
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

  /** Starts one timer for all callers; the first one has waited longest. */
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

  /** Returns all connections if they are held by the transactions of waiting callers. */
  get #held(): ReadonlySet<HeldConnection> | undefined {
    const held = new Set<HeldConnection>()
    for (const { holders } of this.#waits)
      for (const { isOver, held: connection } of holders)
        if (!isOver && connection !== undefined) held.add(connection)
    return held.size < this.pool.size ? undefined : held
  }

  /**
   * Rejects callers whose transactions hold all connections if the connections stay inactive for a while. A
   * transaction that still sends statements does not wait for its caller and will return its connection.
   */
  #lookSoon(): void {
    const held = this.#held
    if (this.#look === undefined && held !== undefined) this.#lookAgain(held, usesOf(held), LOOKS)
  }

  /** Checks several times. If the process was blocked, a single timer would wrongly find no activity. */
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
