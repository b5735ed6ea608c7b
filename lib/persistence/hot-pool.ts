import { Unavailable } from '../errors.js'

/** The sessions of one DSN: a driver's own pool, which is never asked for more than it has or may open. */
export interface Sessions<C> {
  /** Open, being opened, or being closed. */
  readonly size: number
  /** Open and handed to nobody. */
  readonly idle: number
  /** Hands out an idle session, or a new one. */
  connect(done: Handed<C>): void
  /** Takes a session back that nobody wants any more. */
  giveBack(session: C): void
  /** Opens a session, asks it a question and keeps it. */
  probe(): Promise<void>
  /** Closes what is idle now, and the rest as it comes back. */
  retire(): void
}

export type Handed<C> = (error: Error | null | undefined, session: C | undefined) => void

export interface HotPoolOptions<C> {
  /** @param changed - to be called when a session came back, was closed, or could not be opened. */
  readonly open: (dsn: string, changed: () => void) => Sessions<C>
  /** Most sessions in use at once; while an old pool drains there are at most twice as many. */
  readonly max: number
  /** Most callers that wait for a session. */
  readonly queueLimit: number
  /** How long a caller waits for one; 0 for as long as it takes. */
  readonly waitMs: number
  /** How long a caller waits for another DSN after the server refused the login of this one. */
  readonly loginGraceMs: number
  readonly isLoginRefused: (error: Error) => boolean
  /** Somebody should see whether there is another DSN. */
  readonly onLoginRefused: () => void
  /** The last session of a DSN that was replaced is closed. */
  readonly onDrained: (dsn: string) => void
}

interface Waiter<C> extends Waiting {
  readonly done: Handed<C>
}

interface Waiting {
  /** Ends the waiting of a caller that does not wait forever. */
  late?: NodeJS.Timeout
  /** Ends the waiting for another DSN. */
  refused?: NodeJS.Timeout
  isGone?: true
}

/** How long nobody tries a login again that was refused. */
const REFUSED_FOR_MS = 1000

/**
 * A pool whose sessions can move to another DSN. The line of those who wait is kept here and not in the driver's pool, so
 * that it moves along: a driver's pool that ends leaves its line standing.
 */
export class HotPool<C> {
  readonly #line: Waiter<C>[] = []
  /** With the DSN when it was in use, rather than tried in vain. */
  readonly #retired = new Map<Sessions<C>, string | undefined>()
  readonly #tried = new Set<Sessions<C>>()
  readonly #watchers = new Set<() => void>()
  #current: Sessions<C>
  #hasWorked = false
  #refusedUntil = 0
  #isEnding = false

  constructor(
    private dsn: string,
    private readonly options: HotPoolOptions<C>,
  ) {
    this.#current = this.#open(dsn)
  }

  get current(): Sessions<C> {
    return this.#current
  }

  get waiting(): number {
    return this.#line.length
  }

  /** Sessions of every DSN that are not closed. */
  get size(): number {
    let size = this.#current.size
    for (const pool of this.#retired.keys()) size += pool.size
    for (const pool of this.#tried) size += pool.size
    return size
  }

  acquire(done: Handed<C>): void {
    if (this.#isEnding) return done(destroyed(), undefined)
    const waiter: Waiter<C> = { done }
    if (this.#line.length === 0 && this.#hasRoom) return this.#connect(waiter)
    const { queueLimit, waitMs } = this.options
    if (this.#line.length >= queueLimit) {
      return done(new Unavailable('every connection is in use, and as many callers wait as may'), undefined)
    }
    if (waitMs > 0) {
      const late = () => this.#refuse(waiter, new Unavailable(`no connection came free in ${waitMs} ms`))
      waiter.late = setTimeout(late, waitMs)
    }
    this.#line.push(waiter)
  }

  /**
   * Moves to another DSN once it has answered. Whoever waits gets a session of it; the old sessions close as they come back.
   * @throws what the new DSN answered, or the reason of the signal; everything is as before then.
   */
  async replace(dsn: string, signal: AbortSignal): Promise<void> {
    while (this.size >= 2 * this.options.max) await this.#change(signal)
    const next = this.#open(dsn)
    this.#tried.add(next)
    try {
      await abortable(next.probe(), signal)
      signal.throwIfAborted()
    } catch (error) {
      this.#retire(next, undefined)
      throw error
    }
    const old = this.#current
    const oldDsn = this.dsn
    this.#current = next
    this.dsn = dsn
    this.#refusedUntil = 0
    for (const waiter of this.#line) forgive(waiter)
    this.#retire(old, oldDsn)
  }

  /** Refuses those who wait, and is over when every session has come back and is closed. */
  async end(): Promise<void> {
    this.#isEnding = true
    for (const waiter of [...this.#line]) this.#refuse(waiter, destroyed())
    this.#current.retire()
    while (this.size > 0) await this.#change()
  }

  #open(dsn: string): Sessions<C> {
    return this.options.open(dsn, () => this.#changed())
  }

  get #hasRoom(): boolean {
    const { idle, size } = this.#current
    if (idle > 0) return true
    const { max } = this.options
    return size < max && Date.now() >= this.#refusedUntil && this.size < 2 * max
  }

  #connect(waiter: Waiter<C>): void {
    const pool = this.#current
    pool.connect((error, session) => {
      if (waiter.isGone === true) {
        if (session !== undefined) pool.giveBack(session)
        return this.#changed()
      }
      if (session !== undefined) {
        this.#hasWorked = true
        settle(waiter)
        return waiter.done(undefined, session)
      }
      const reason = error ?? destroyed()
      if (this.#isEnding) return this.#refuse(waiter, reason)
      if (pool !== this.#current) this.#line.unshift(waiter)
      else if (this.#isPatient && this.options.isLoginRefused(reason)) this.#waitForLogin(waiter, reason)
      else this.#refuse(waiter, reason)
      this.#changed()
    })
  }

  get #isPatient(): boolean {
    return this.#hasWorked && this.options.loginGraceMs > 0
  }

  /** The password may have been changed before the file was: a session that comes back, or a new DSN, will do as well. */
  #waitForLogin(waiter: Waiter<C>, reason: Error): void {
    this.#refusedUntil = Date.now() + REFUSED_FOR_MS
    setTimeout(() => this.#changed(), REFUSED_FOR_MS).unref()
    waiter.refused ??= setTimeout(() => this.#refuse(waiter, reason), this.options.loginGraceMs)
    this.#line.unshift(waiter)
    this.options.onLoginRefused()
  }

  #refuse(waiter: Waiter<C>, error: Error): void {
    settle(waiter)
    waiter.isGone = true
    const place = this.#line.indexOf(waiter)
    if (place >= 0) this.#line.splice(place, 1)
    waiter.done(error, undefined)
  }

  #retire(pool: Sessions<C>, dsn: string | undefined): void {
    this.#tried.delete(pool)
    this.#retired.set(pool, dsn)
    pool.retire()
    this.#changed()
  }

  #changed(): void {
    for (const [pool, dsn] of this.#retired) {
      if (pool.size > 0) continue
      this.#retired.delete(pool)
      if (dsn !== undefined) this.options.onDrained(dsn)
    }
    while (this.#hasRoom) {
      const next = this.#line.shift()
      if (next === undefined) break
      this.#connect(next)
    }
    for (const tell of this.#watchers) tell()
  }

  async #change(signal?: AbortSignal): Promise<void> {
    let tell: (() => void) | undefined
    const change = new Promise<void>((resolve) => this.#watchers.add((tell = resolve)))
    try {
      await (signal === undefined ? change : abortable(change, signal))
    } finally {
      if (tell !== undefined) this.#watchers.delete(tell)
    }
  }
}

const destroyed = () => new Unavailable('the DataSource was destroyed')

function forgive(waiter: Waiting): void {
  clearTimeout(waiter.refused)
  delete waiter.refused
}

function settle(waiter: Waiting): void {
  clearTimeout(waiter.late)
  forgive(waiter)
}

/** The promise, or the signal's reason when that comes first. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error)
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
    if (signal.aborted) abort()
  })
}
