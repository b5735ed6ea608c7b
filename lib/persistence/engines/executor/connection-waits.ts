import type { CallEnd } from '../../../call-end.js'
import { Unavailable } from '../../../errors.js'
import { cancellation } from '../errors/cancellation.js'
import { type HeldConnection, holdersAround, type OpenTransaction } from '../../contract/open-transaction.js'

/**
 * The time a caller waits for a connection, and a new connection for the server, whatever a DataSource says.
 */
export const CONNECT_MS = 10_000

/** So long nothing has happened where all connections are held by callers that wait. */
const STILL_MS = 100
const LOOKS = 4

/** The pool, as far as its waiting callers are concerned. */
export interface WaitedPool {
  readonly database: object
  /** The most connections that it opens. */
  readonly size: number
  /** Connections that calls hold. */
  readonly used: number
}

interface Wait {
  readonly since: number
  /**
   * Transactions that hold a connection of the same pool, and wait for this caller as far as anybody knows.
   */
  readonly holders: readonly OpenTransaction[]
  readonly refuse: (error: Error) => void
}

/** A caller holds a connection and waits for another one, as all the others do that hold one. */
export class ConnectionsHeld extends Unavailable {}

/** The callers that wait for a connection of a pool. None waits for ever, whatever the driver's pool does. */
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
   * Begins a wait. @returns a function that ends it.
   * @param refuse - called with Unavailable when the caller has waited for too long, or would wait in vain.
   */
  begin(refuse: (error: Error) => void): () => void {
    const wait: Wait = { since: performance.now(), holders: holdersAround(this.pool.database), refuse }
    this.#waits.add(wait)
    this.#timer ??= this.limitMs === 0 ? undefined : this.#refuseLateIn(this.limitMs)
    if (wait.holders.length > 0) this.#lookSoon()
    return () => void this.#waits.delete(wait)
  }

  /** True if a caller might wait for itself: it is inside of a transaction that holds a connection. */
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

  /** The state of the pool, for the error of a caller that gets no connection. */
  get state(): string {
    const { size, used } = this.pool
    return used < size
      ? 'the database accepts none, or other code holds the rest of the pool'
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

  /** All connections, where each is held by transactions around a waiting caller. */
  get #held(): ReadonlySet<HeldConnection> | undefined {
    const held = new Set<HeldConnection>()
    for (const { holders } of this.#waits)
      for (const { isOver, held: connection } of holders)
        if (!isOver && connection !== undefined) held.add(connection)
    return held.size < this.pool.size ? undefined : held
  }

  /**
   * Refuses those callers where nothing happens on the connections meanwhile. A transaction that goes on does
   * not wait for its caller, and will give its connection back.
   */
  #lookSoon(): void {
    const held = this.#held
    if (this.#look === undefined && held !== undefined) this.#lookAgain(held, usesOf(held), LOOKS)
  }

  /** Looks several times: where the process itself stands still, one timer would find nothing changed. */
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
        ? 'the only connection to the database is held by a call that waits for another one'
        : `all ${size} connections to the database are held by calls that wait for another one`
    return `${who}: make such calls inside of the transaction${this.limitMs === 0 ? '' : ', or raise poolSize'}`
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
