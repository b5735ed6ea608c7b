import { Unavailable } from '../../errors.js'

/** A connection of a driver. */
export interface Connection<C> {
  readonly client: C
  /** Settles when the server has accepted or rejected the login. */
  readonly opened: Promise<unknown>
  /** Sends a query, to check that the server responds. */
  ask(): Promise<unknown>
  /** Ends the session at the server and closes the socket. */
  close(): void
  /** Closes the socket. */
  cut(): void
}

/** Receives a driver's notifications about its connection. */
export interface ConnectionListener {
  /** The connection is unusable. Its socket may still be open. */
  broken(error?: Error): void
  /** The socket is closed. */
  closed(): void
  /** The caller has returned the connection. */
  giveBack(isBroken?: boolean): void
}

export type Connect<C> = (dsn: string, listener: ConnectionListener) => Connection<C>

/** All sessions that one DSN has opened. */
export interface PoolEpoch {
  readonly dsn: string
  /** The number of sessions whose socket is not closed, including those that are being opened. */
  size: number
  /** The number of sessions that are being opened. */
  opening: number
  state: 'tried' | 'used' | 'replaced'
}

/** Receives a session's notifications for its pool. */
export interface SessionListener<C> {
  broke(session: Session<C>, error: Error | undefined): void
  closed(session: Session<C>): void
  cameBack(session: Session<C>): void
}

/**
 * The time in milliseconds for the server to close the connection before the socket is destroyed, because an
 * unreachable host never closes it.
 */
const GOODBYE_MS = 2000

/** A session, from the beginning of the login until the socket is closed. */
export class Session<C> {
  readonly openedAt = performance.now()
  /** True while a caller uses the session. */
  isOut = false
  /** True if no caller has used the session since the last check of idle sessions. */
  isUnused = false
  #connection: Connection<C> | undefined
  #state: 'opening' | 'open' | 'over' | 'closed' = 'opening'
  #refuse: ((reason: Error) => void) | undefined
  #goodbye: NodeJS.Timeout | undefined

  constructor(
    readonly epoch: PoolEpoch,
    private readonly listener: SessionListener<C>,
  ) {}

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  get isOpening(): boolean {
    return this.#state === 'opening'
  }

  /** The driver's client. Throws if the session was never open. */
  get client(): C {
    if (this.#connection === undefined) throw new TypeError('the session was never open')
    return this.#connection.client
  }

  /**
   * Logs in within `ms` milliseconds. If `asked` is set, also checks that the server responds.
   *
   * @throws the error of the server or the driver, or the reason for closing the session.
   */
  open(connect: Connect<C>, dsn: () => Promise<string>, ms: number, asked: boolean): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#refuse = reject
      const late = setTimeout(() => {
        const who = this.#connection === undefined ? 'the password callback' : 'the database'
        this.cut(new Unavailable(`${who} did not respond in ${ms} ms`))
      }, ms)
      this.#logIn(connect, dsn, asked)
        .then(resolve, (error: Error) => this.cut(error))
        .finally(() => clearTimeout(late))
    })
  }

  /** Closes an open session. */
  close(): void {
    if (this.#state !== 'open') return
    this.#state = 'over'
    this.#goodbye = setTimeout(() => this.#connection?.cut(), GOODBYE_MS)
    this.#connection?.close()
  }

  /** Closes a session in any state, without ending it at the server. */
  cut(reason: Error = new Unavailable('the connection was closed')): void {
    this.#refuse?.(reason)
    if (this.#state === 'closed') return
    this.#state = 'over'
    if (this.#connection === undefined) this.#closed()
    else this.#connection.cut()
  }

  async #logIn(connect: Connect<C>, dsn: () => Promise<string>, asked: boolean): Promise<void> {
    const text = await dsn()
    if (this.#state !== 'opening') throw new Unavailable('the connection was closed')
    this.#connection = connect(text, {
      broken: (error) => this.#broken(error),
      closed: () => this.#closed(),
      giveBack: (isBroken) => this.#giveBack(isBroken),
    })
    await this.#connection.opened
    if (asked) await this.#connection.ask()
    if (this.isOpening) this.#state = 'open'
  }

  #broken(error: Error | undefined): void {
    if (this.#state !== 'open') return
    this.cut()
    this.listener.broke(this, error)
  }

  #closed(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    clearTimeout(this.#goodbye)
    this.#refuse?.(new Unavailable('the database closed the connection'))
    this.listener.closed(this)
  }

  /** Returns the session. A second return has no effect. */
  #giveBack(isBroken: boolean | undefined): void {
    if (!this.isOut) return
    this.isOut = false
    if (isBroken === true) this.close()
    this.listener.cameBack(this)
  }
}
