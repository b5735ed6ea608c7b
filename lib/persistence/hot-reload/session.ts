import { Unavailable } from '../../errors.js'

/** A connection as its driver makes it. */
export interface Connection<C> {
  readonly client: C
  /** Settles once the server has let the user in, or not. */
  readonly opened: Promise<unknown>
  /** Asks the server something, to see that it responds. */
  ask(): Promise<unknown>
  /** Says goodbye to the server and closes the socket. */
  close(): void
  /** Closes the socket. */
  cut(): void
}

/** What a driver tells of its connection. */
export interface ConnectionListener {
  /** It is of no use any more; its socket may be open yet. */
  broken(error?: Error): void
  /** Its socket is closed. */
  closed(): void
  /** Whoever had it needs it no more. */
  giveBack(isBroken?: boolean): void
}

export type Connect<C> = (dsn: string, listener: ConnectionListener) => Connection<C>

/** Every session that one DSN opened. */
export interface PoolEpoch {
  readonly dsn: string
  /** Sessions whose socket is not closed, those that are being opened among them. */
  size: number
  /** Those that are being opened. */
  opening: number
  state: 'tried' | 'used' | 'replaced'
}

/** What a pool hears of its sessions. */
export interface SessionListener<C> {
  broke(session: Session<C>, error: Error | undefined): void
  closed(session: Session<C>): void
  cameBack(session: Session<C>): void
}

/** How long the server has for its goodbye before the socket is cut: a host that is gone never says it. */
const GOODBYE_MS = 2000

/** One login, from the moment it is begun until its socket is closed. */
export class Session<C> {
  readonly openedAt = performance.now()
  /** Somebody has it. */
  isOut = false
  /** Nobody had it since the idle ones were last looked through. */
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

  /** Only of a session that is open, or was. */
  get client(): C {
    if (this.#connection === undefined) throw new TypeError('the session was never open')
    return this.#connection.client
  }

  /**
   * Logs in within so many milliseconds, and sees that the server responds if it is `asked`.
   * @throws what the server or the driver says, or the reason for which it was cut.
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

  /** Closes one that is open. */
  close(): void {
    if (this.#state !== 'open') return
    this.#state = 'over'
    this.#goodbye = setTimeout(() => this.#connection?.cut(), GOODBYE_MS)
    this.#connection?.close()
  }

  /** Closes one in any state, without a goodbye. */
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

  /** A second time it is nobody's to give. */
  #giveBack(isBroken: boolean | undefined): void {
    if (!this.isOut) return
    this.isOut = false
    if (isBroken === true) this.close()
    this.listener.cameBack(this)
  }
}
