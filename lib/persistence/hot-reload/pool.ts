import { Unavailable } from '../../errors.js'
import { type Connect, type PoolEpoch, Session } from './reloaded-session.js'
import { type Handed, WaitQueue } from './wait-queue.js'

export interface HotPoolOptions<C> {
  readonly connect: Connect<C>
  /** Returns a DSN with the current password. */
  readonly withPassword: (dsn: string) => Promise<string>
  /** The maximum number of sessions. While old sessions are still in use, the total may be twice as high. */
  readonly max: number
  /** The maximum number of callers that wait for a session. */
  readonly queueLimit: number
  /** The maximum time in milliseconds that a caller waits for a session. 0 means no limit. */
  readonly waitMs: number
  /** The timeout of a login in milliseconds. */
  readonly connectMs: number
  /** The time in milliseconds after which an idle session is closed. 0 disables it. */
  readonly idleMs: number
  /** The number of idle sessions that are retained. */
  readonly keptIdle: number
  /** The age in milliseconds at which a returned session is closed. 0 disables it. */
  readonly maxAgeMs: number
  /** The time in milliseconds that callers wait for a new DSN after the server rejected the login. */
  readonly loginGraceMs: number
  readonly isLoginRefused: (error: Error) => boolean
  /** Called to check for a new DSN. */
  readonly onLoginRefused: () => void
  /** Called when the last session of a replaced DSN is closed. */
  readonly onDrained: (dsn: string) => void
  /** Called when an idle session is lost. */
  readonly onLost: (error: Error, client: C) => void
}

/** The first pause in milliseconds after a rejected login. It doubles with each failure. */
const FIRST_RETRY_MS = 250
const LAST_RETRY_MS = 5000

/**
 * A pool whose sessions can move to another DSN. It manages sessions and waiting callers itself. A driver's
 * pool does not serve its waiting callers once it ends, and only counts its own sessions.
 */
export class HotPool<C> {
  readonly #sessions = new Set<Session<C>>()
  /** Idle sessions of the current DSN. While there are any, no caller waits. */
  #idle: Session<C>[] = []
  readonly #queue: WaitQueue<C>
  readonly #watchers = new Set<() => void>()
  #current: PoolEpoch
  /** The number of DSNs that wait for a free place to be tested. */
  #reserved = 0
  #hasWorked = false
  #refusal: Error | undefined
  #retryMs = FIRST_RETRY_MS
  #retry: NodeJS.Timeout | undefined
  #sweep: NodeJS.Timeout | undefined
  #isEnding = false

  constructor(
    dsn: string,
    private readonly options: HotPoolOptions<C>,
  ) {
    this.#current = { dsn, size: 0, opening: 0, state: 'used' }
    this.#queue = new WaitQueue(options)
  }

  /** The number of sessions, of all DSNs, that are not closed. */
  get size(): number {
    return this.#sessions.size
  }

  get idle(): number {
    return this.#idle.length
  }

  get waiting(): number {
    return this.#queue.length
  }

  /** The server's error while it rejects logins, otherwise undefined. */
  get refusal(): Error | undefined {
    return this.#refusal
  }

  acquire(done: Handed<C>): void {
    const session = this.#idle.pop()
    if (session !== undefined) return hand(session, done)
    if (this.#isEnding) return done(destroyed(), undefined)
    if (this.#queue.length >= this.options.queueLimit + this.#current.opening + this.#room) {
      return done(
        new Unavailable('every connection is in use, and the queue of waiting callers is full'),
        undefined,
      )
    }
    this.#queue.join(done, this.#refusal)
    this.#grow()
  }

  /**
   * Moves to another DSN once its database responds. Waiting callers get its sessions. Old sessions are
   * closed when they are returned.
   *
   * @throws the error of the new DSN or the signal's reason. Nothing has changed then.
   */
  async replace(dsn: string, signal: AbortSignal): Promise<void> {
    const next: PoolEpoch = { dsn, size: 0, opening: 0, state: 'tried' }
    const session = await this.#beginAnother(next, signal)
    const abort = () => session.cut(signal.reason as Error)
    signal.addEventListener('abort', abort, { once: true })
    try {
      await this.#logIn(session, true)
      signal.throwIfAborted()
    } catch (error) {
      session.cut(error as Error)
      throw error
    } finally {
      signal.removeEventListener('abort', abort)
    }
    const old = this.#current
    const idle = this.#idle
    this.#idle = []
    this.#current = next
    next.state = 'used'
    old.state = 'replaced'
    for (const unused of idle) unused.close()
    // The caller of this method is notified first.
    if (old.size === 0) setImmediate(() => this.options.onDrained(old.dsn))
    this.#authenticated(session)
  }

  /** Rejects waiting callers. Resolves when every session has been returned and closed. */
  async end(): Promise<void> {
    this.#isEnding = true
    clearTimeout(this.#retry)
    clearTimeout(this.#sweep)
    this.#queue.refuseAll(destroyed())
    this.#idle = []
    for (const session of this.#sessions) {
      if (session.isOpening) session.cut(destroyed())
      else if (!session.isOut) session.close()
    }
    while (this.size > 0) await this.#change()
  }

  /** The number of sessions that can still be opened. */
  get #room(): number {
    if (this.#isEnding || this.#retry !== undefined) return 0
    const { max } = this.options
    return Math.max(0, Math.min(max - this.#current.size, 2 * max - this.size - this.#reserved))
  }

  /** Opens sessions for waiting callers. A caller is assigned to a session only after the session is open. */
  #grow(): void {
    while (this.#queue.length > this.#current.opening && this.#room > 0) void this.#open()
  }

  async #open(): Promise<void> {
    const epoch = this.#current
    const session = this.#begin(epoch)
    epoch.opening++
    const error = await this.#logIn(session, false).then(
      () => undefined,
      (reason: Error) => reason,
    )
    epoch.opening--
    if (epoch === this.#current) {
      if (error === undefined) return this.#authenticated(session)
      if (this.#hasWorked && this.options.loginGraceMs > 0 && this.options.isLoginRefused(error)) {
        this.#waitForLogin(error)
      } else this.#queue.shift()?.(error, undefined)
    } else session.close()
    this.#grow()
  }

  #begin(epoch: PoolEpoch): Session<C> {
    const session = new Session<C>(epoch, {
      broke: (lost, error) => this.#broke(lost, error),
      closed: (gone) => this.#closed(gone),
      cameBack: (back) => this.#cameBack(back),
    })
    epoch.size++
    this.#sessions.add(session)
    return session
  }

  async #logIn(session: Session<C>, asked: boolean): Promise<void> {
    const { connect, withPassword, connectMs } = this.options
    await session.open(connect, () => withPassword(session.epoch.dsn), connectMs, asked)
    if (!this.#isEnding) return
    session.close()
    throw destroyed()
  }

  /** Records that a session of the current DSN is open. */
  #authenticated(session: Session<C>): void {
    this.#hasWorked = true
    this.#refusal = undefined
    this.#retryMs = FIRST_RETRY_MS
    clearTimeout(this.#retry)
    this.#retry = undefined
    this.#queue.forgive()
    if (session.isOpen) this.#serve(session)
    this.#grow()
  }

  #serve(session: Session<C>): void {
    const next = this.#queue.shift()
    if (next !== undefined) return hand(session, next)
    session.isUnused = false
    this.#idle.push(session)
    const { idleMs } = this.options
    if (idleMs > 0 && this.#sweep === undefined)
      this.#sweep = setTimeout(() => this.#closeUnused(), idleMs).unref()
  }

  #cameBack(session: Session<C>): void {
    if (!session.isOpen) return
    const { maxAgeMs } = this.options
    const isOld = maxAgeMs > 0 && performance.now() - session.openedAt > maxAgeMs
    if (session.epoch !== this.#current || this.#isEnding || isOld || this.#isInTheWay) session.close()
    else this.#serve(session)
  }

  #broke(session: Session<C>, error: Error | undefined): void {
    const place = this.#idle.indexOf(session)
    if (place < 0) return
    this.#idle.splice(place, 1)
    if (error !== undefined) this.options.onLost(error, session.client)
  }

  #closed(session: Session<C>): void {
    const { epoch } = session
    this.#sessions.delete(session)
    epoch.size--
    if (epoch.size === 0 && epoch.state === 'replaced') this.options.onDrained(epoch.dsn)
    this.#grow()
    for (const tell of this.#watchers) tell()
  }

  /**
   * Waits after a rejected login, because the password may have changed before the file. A returned session
   * or a new DSN ends the wait, too.
   */
  #waitForLogin(refusal: Error): void {
    this.#refusal = refusal
    this.#queue.limit(refusal)
    this.options.onLoginRefused()
    if (this.#retry !== undefined) return
    this.#retry = setTimeout(() => this.#tryAgain(), this.#retryMs).unref()
    this.#retryMs = Math.min(2 * this.#retryMs, LAST_RETRY_MS)
  }

  /** Retries the login even if no caller waits, so that the next caller does not have to. */
  #tryAgain(): void {
    this.#retry = undefined
    if (this.#room > 0) void this.#open()
    else if (this.#refusal !== undefined) this.#waitForLogin(this.#refusal)
  }

  #closeUnused(): void {
    this.#sweep = undefined
    const { keptIdle, idleMs } = this.options
    const over = this.#current.size - keptIdle
    const unused = over > 0 ? this.#idle.filter((session) => session.isUnused).slice(0, over) : []
    this.#idle = this.#idle.filter((session) => !unused.includes(session))
    for (const session of unused) session.close()
    for (const session of this.#idle) session.isUnused = true
    if (this.#idle.length > 0) this.#sweep = setTimeout(() => this.#closeUnused(), idleMs).unref()
  }

  /**
   * True if an idle session of the current DSN must be closed to make room for testing another. Sessions that
   * could not be reopened are kept.
   */
  get #isInTheWay(): boolean {
    return this.#reserved > 0 && this.#refusal === undefined && this.size >= 2 * this.options.max
  }

  /** Opens the first session of another DSN, within twice the pool size. */
  async #beginAnother(next: PoolEpoch, signal: AbortSignal): Promise<Session<C>> {
    this.#reserved++
    try {
      signal.throwIfAborted()
      while (this.size >= 2 * this.options.max) {
        if (this.#isInTheWay) this.#idle.shift()?.close()
        await this.#change(signal)
        signal.throwIfAborted()
      }
      if (this.#isEnding) throw destroyed()
      return this.#begin(next)
    } finally {
      this.#reserved--
    }
  }

  /** Waits until a session is closed or the signal aborts. */
  async #change(signal?: AbortSignal): Promise<void> {
    let tell: () => void = () => {}
    await new Promise<void>((resolve) => {
      tell = resolve
      this.#watchers.add(tell)
      signal?.addEventListener('abort', tell, { once: true })
    })
    this.#watchers.delete(tell)
    signal?.removeEventListener('abort', tell)
  }
}

function hand<C>(session: Session<C>, done: Handed<C>): void {
  session.isOut = true
  done(undefined, session.client)
}

const destroyed = () => new Unavailable('the DataSource was destroyed')
