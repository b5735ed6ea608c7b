import type { FailureReport } from '../../context.js'
import { OptionError } from '../../errors.js'
import { ReportLimit } from '../../faults/report-limit.js'
import type { Database } from '../../persistence/engines/executor/executor.js'
import { CHANNEL, WakeUp } from '../../persistence/outbox/sql/wake-up.js'
import { pause } from './pause.js'
import { MAX_TIMER_MS } from '../../bounds/timer-limit.js'

/** Options for notifying a worker of new events. */
export interface ListenOptions {
  /**
   * The PostgreSQL connection string for LISTEN. It needs its own session, so it must not use PgBouncer in
   * transaction mode. Without it the outbox is polled, once per second when it is idle.
   */
  readonly listenDsn?: string | undefined
}

/** The part of `pg`'s client that Ashlar uses. */
interface Client {
  on(event: 'notification' | 'error' | 'end', listener: (error?: Error) => void): unknown
  connect(): Promise<unknown>
  query(text: string): Promise<unknown>
  end(): Promise<void>
}

/** Receives notifications of events that other processes have committed. */
export interface OutboxListener {
  start(): void
  close(): Promise<void>
}

const [HEARD_WITHIN_MS, RECONNECT_MS] = [2000, 5000]

/**
 * Returns a listener for new events of other processes.
 *
 * @throws OptionError if a `listenDsn` is given and the engine has no LISTEN.
 */
export function listenFor(
  database: Database,
  dsn: string | undefined,
  onFailure: FailureReport | undefined,
): OutboxListener {
  if (dsn === undefined) return { start: () => {}, close: () => Promise.resolve() }
  if (database.dialect.stores.notify === undefined)
    throw new OptionError('listenDsn', `${database.dialect.label} has no LISTEN: leave it out`)
  return new PostgresListener(dsn, WakeUp.of(database), onFailure)
}

/** Listens on its own connection. This only reduces latency, because the outbox is polled, too. */
class PostgresListener implements OutboxListener {
  readonly #stop = new AbortController()
  readonly #reports = new ReportLimit()
  #running: Promise<void> | undefined

  constructor(
    private readonly dsn: string,
    private readonly wakeUp: WakeUp,
    private readonly onFailure: FailureReport | undefined,
  ) {}

  start(): void {
    this.#running ??= this.#run()
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      try {
        await this.#listen(signal)
      } catch (error) {
        this.#report('events: LISTEN failed, so the outbox is polled', error)
      }
      await pause(RECONNECT_MS, signal)
    }
  }

  /** Resolves when the connection has ended. */
  async #listen(signal: AbortSignal): Promise<void> {
    const { default: pg } = await import('pg')
    const client = new pg.Client({ connectionString: this.dsn, keepAlive: true }) as Client
    let [ended, heard]: [() => void, () => void] = [() => {}, () => {}]
    const end = new Promise<void>((resolve) => (ended = resolve))
    const own = new Promise<void>((resolve) => (heard = resolve))
    const state = { isHeard: false }
    client.on('error', ended)
    client.on('end', ended)
    client.on('notification', () => {
      state.isHeard = true
      heard()
      this.wakeUp.hear()
    })
    try {
      await client.connect()
      await client.query(`LISTEN ${CHANNEL}`)
      // If LISTEN succeeds but no notification arrives, a pooler has assigned the session to other clients.
      this.wakeUp.wake()
      await pause(HEARD_WITHIN_MS, signal, Promise.race([own, end]))
      if (!state.isHeard && !signal.aborted)
        this.#report(
          'events: LISTEN receives no notifications, so the outbox is polled',
          new TypeError('listenDsn points to a transaction pooler, or to another database'),
        )
      await pause(MAX_TIMER_MS, signal, end)
    } finally {
      await client.end().catch(() => {})
    }
  }

  #report(what: string, error: unknown): void {
    this.#reports.tell(what, error, (more) => this.#tell(`${what}${more}`, error))
  }

  #tell(message: string, error: unknown): void {
    if (this.onFailure !== undefined) return this.onFailure({ requestId: '', message, error })
    const text = error instanceof Error ? error.message : String(error)
    process.stderr.write(`${JSON.stringify({ level: 'warn', msg: message, err: { message: text } })}\n`)
  }
}
