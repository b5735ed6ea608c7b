import { setMaxListeners } from 'node:events'
import type { FailureReport } from '../../context.js'
import { DeadlineExceeded, Unavailable } from '../../errors.js'
import { ReportLimit } from '../../faults/report-limit.js'
import type { EventLog, LoggedEvent } from '../log/event-log.js'
import { pause } from '../log/pause.js'
import { textOf } from '../store/sql-dead-letters.js'
import type { CursorStore, LetterStore, OutboxStore, WorkerLease } from '../store/outbox-store.js'
import { printable } from '../../text/printable.js'
import { shownValue } from '../../text/shown-value.js'
import { InFlight } from './in-flight.js'
import { Slots } from './slots.js'

/** Options of a worker that follows a log. */
export interface FollowerOptions {
  /**
   * The maximum number of attempts before an event becomes a dead letter. Default: 10. Outages do not count.
   */
  readonly maxAttempts?: number
  /**
   * The time in milliseconds before another process takes over from a process that died. Default: 15 seconds.
   */
  readonly leaseMs?: number
  /** Receives failures, at most one per cause and minute. Default: a line on stderr. */
  readonly onFailure?: FailureReport
}

/** The log of a worker and the handlers of its events. */
export interface Following {
  /** The name of the lease, the cursor and the dead letters. */
  readonly name: string
  readonly log: EventLog
  /** The number of events that are read ahead. */
  readonly ahead: number
  /** The number of events that are handled concurrently. */
  readonly concurrency: number
  /** Called about every second while this process is the leader. */
  readonly tidy: () => Promise<void>
  /** Called when this process becomes the leader. */
  readonly begin?: () => Promise<void>
  /** Returns false for events of other workers. */
  readonly isMine: (event: LoggedEvent) => boolean
  /**
   * Handles an event.
   *
   * @throws Unavailable in an outage, whose end the worker waits for. Any other error counts as a failed
   * attempt for this event.
   */
  readonly handle: (event: LoggedEvent, signal: AbortSignal) => Promise<void>
}

/** A worker's progress. */
export interface WorkerStatus {
  readonly name: string
  /** True if this process is the leader. */
  readonly isLeading: boolean
  /** The log position up to which all events are done. */
  readonly position: number
  /** The number of events after this position that are still to be handled. */
  readonly lag: number
  /** The reason why this process makes no progress, or none with some events. Undefined if nothing fails. */
  readonly problem?: string
}

const [FIRST_BACKOFF_MS, MAX_BACKOFF_MS] = [100, 5000]
const SAVE_EVERY_MS = 100
const TIDY_EVERY_MS = 1000

/**
 * Follows a log. One process per name leads, by holding a lease, and the others stand by. Events of the same
 * resource are handled one after another, others concurrently. The cursor is saved before the first event
 * that is not done. If a process dies, some events are therefore repeated, but none is lost.
 */
export class Follower {
  readonly #lease: WorkerLease
  readonly #cursors: CursorStore
  readonly #letters: LetterStore
  readonly #maxAttempts: number
  readonly #leaseMs: number
  readonly #onFailure: FailureReport
  readonly #reports = new ReportLimit()
  /** The problem of the last attempt to lead. */
  #problem: string | undefined
  /** The reasons why events are retried, by their positions. */
  readonly #problems = new Map<number, string>()
  readonly #stop = new AbortController()
  #running: Promise<void> | undefined
  #inFlight: InFlight | undefined
  #failures = 0

  constructor(
    store: OutboxStore,
    private readonly following: Following,
    { maxAttempts = 10, leaseMs = 15_000, onFailure = toStderr }: FollowerOptions,
  ) {
    const { name } = following
    if (!Number.isSafeInteger(maxAttempts) || maxAttempts < 1)
      throw new RangeError(`${name}: maxAttempts must be a whole number from 1`)
    if (!(leaseMs >= 100 && leaseMs <= 3_600_000))
      throw new RangeError(`${name}: leaseMs must be from 100 to 3600000`)
    this.#lease = store.lease(name, leaseMs)
    this.#cursors = store.cursors
    this.#letters = store.letters
    this.#maxAttempts = maxAttempts
    this.#leaseMs = leaseMs
    this.#onFailure = onFailure
  }

  get name(): string {
    return this.following.name
  }

  /** Starts following. Has no effect if already started. */
  start(): void {
    this.#running ??= this.#run()
  }

  /** Waits until the events in progress are done, saves the cursor and releases the lease. */
  async drain(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async status(): Promise<WorkerStatus> {
    const { name, log } = this.following
    const position = await this.#cursors.open(name)
    const lag = await log.behind(position)
    const problem = this.#problem ?? this.#problems.values().next().value
    return { name, isLeading: this.#lease.isHeld, position, lag, ...(problem !== undefined && { problem }) }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      try {
        const isLeading = await this.#lease.acquire()
        this.#problem = undefined
        if (isLeading) await this.#lead()
      } catch (error) {
        this.#problem = problemOf(error)
        this.#report('restarting after a failure', error)
      }
      await pause(Math.min(1000, this.#leaseMs / 3), signal)
    }
  }

  /**
   * Follows the log until the signal aborts or the lease is lost.
   *
   * @throws the error of reading the log.
   */
  async #lead(): Promise<void> {
    const lost = new AbortController()
    const end = this.#lease.keep(() => lost.abort())
    const signal = AbortSignal.any([this.#stop.signal, lost.signal])
    // Every event in progress adds a listener.
    setMaxListeners(0, this.#stop.signal, lost.signal, signal)
    let tidying: Promise<void> | undefined
    try {
      const { name, log, ahead, concurrency, isMine, begin } = this.following
      await begin?.()
      const inFlight = new InFlight(await this.#cursors.open(name), ahead)
      this.#inFlight = inFlight
      tidying = this.#tidy(inFlight, signal, lost)
      const slots = new Slots(concurrency)
      for await (const event of log.read(inFlight.done, signal)) {
        await inFlight.room(signal)
        if (signal.aborted) break
        if (isMine(event)) inFlight.begin(event, () => this.#done(event, inFlight, slots, signal, lost))
        else inFlight.skip(event)
      }
    } finally {
      // Also after a failed read: events still in progress must not overlap with the same events read again.
      if (!this.#stop.signal.aborted) lost.abort()
      await this.#inFlight?.idle()
      end()
      await tidying
      await this.#leave(lost.signal)
    }
  }

  /** Saves the position and releases the lease. */
  async #leave(lost: AbortSignal): Promise<void> {
    try {
      if (this.#inFlight !== undefined && this.#lease.isHeld) await this.#save(this.#inFlight)
      if (!lost.aborted || this.#lease.isHeld) await this.#lease.release()
    } catch (error) {
      this.#report('its final position is not saved, so some events will be repeated', error)
    }
  }

  /**
   * Retries an event until it is handled or becomes a dead letter.
   *
   * @throws if another process is now the leader.
   */
  async #done(
    event: LoggedEvent,
    inFlight: InFlight,
    slots: Slots,
    signal: AbortSignal,
    lost: AbortController,
  ): Promise<void> {
    let failures = 0
    let unstored = 0
    for (let waitMs = FIRST_BACKOFF_MS; ; waitMs = Math.min(waitMs * 2, MAX_BACKOFF_MS)) {
      try {
        await slots.run(async () => {
          // The event is abandoned even if the lease is renewed a moment later: an event that was left out
          // blocks its resource.
          if (!this.#lease.isHeld) lost.abort()
          if (signal.aborted) throw new LeaseLost()
          await this.following.handle(event, lost.signal)
        })
        this.#problems.delete(event.position)
        return
      } catch (error) {
        this.#problems.delete(event.position)
        if (error instanceof LeaseLost || signal.aborted) throw error
        if (!isOutage(error)) failures++
        this.#failures = failures
        if (
          failures >= this.#maxAttempts &&
          (await this.#gaveUp(event, error, ++unstored >= this.#maxAttempts))
        )
          return
        this.#problems.set(event.position, problemOf(error))
        if (failures <= 1)
          this.#report(
            'an event failed, and will be retried',
            error,
            `the event ${printable(event.id)} failed, and will be retried`,
          )
      }
      await inFlight.waiting(() => pause(waitMs, signal))
    }
  }

  /**
   * Makes the event a dead letter.
   *
   * @param isLast - stores the event without its payload, because storing it has failed too often.
   * @returns true if the event was stored.
   */
  async #gaveUp(event: LoggedEvent, reason: unknown, isLast: boolean): Promise<boolean> {
    const { name } = this.following
    const shown = printable(event.id)
    try {
      await this.#letters.record(name, event, reason)
      this.#tell(`the event ${shown} is now a dead letter`, reason)
    } catch (error) {
      if (!isLast || !(await this.#putAside(event, reason, error))) {
        this.#report(
          'an event cannot become a dead letter',
          error,
          `the event ${shown} cannot become a dead letter`,
        )
        return false
      }
    }
    this.#failures = 0
    return true
  }

  /**
   * Stores the event without its payload, in case the payload cannot be stored. If this fails, too, the event
   * is not the cause.
   */
  async #putAside(event: LoggedEvent, reason: unknown, error: unknown): Promise<boolean> {
    const { name } = this.following
    const { position } = event
    const why = new TypeError(
      `${textOf(reason)}; the event at ${position} could not be stored: ${textOf(error)}`,
    )
    try {
      await this.#letters.record(name, { ...event, payload: Buffer.alloc(0) }, why)
      this.#tell(`the event at ${position} is set aside, without its content`, why)
      return true
    } catch {
      return false
    }
  }

  /**
   * Reports a failure, with a limited rate per cause.
   *
   * @param message - the message in the log: `what` with the event's id.
   */
  #report(what: string, error: unknown, message = what): void {
    this.#reports.tell(what, error, (more) => this.#tell(`${message}${more}`, error))
  }

  #tell(message: string, error: unknown): void {
    this.#onFailure({ requestId: '', message: `${this.following.name}: ${message}`, error })
  }

  /** Saves the cursor, prunes the log, and retries dead letters whose replay was requested. */
  async #tidy(inFlight: InFlight, signal: AbortSignal, lost: AbortController): Promise<void> {
    let [saved, tidied] = [inFlight.done, 0]
    while (!signal.aborted) {
      try {
        if (inFlight.done !== saved) {
          const { done } = inFlight
          if (await this.#save(inFlight)) saved = done
          else lost.abort()
        }
        if (performance.now() - tidied > TIDY_EVERY_MS) {
          tidied = performance.now()
          await this.following.tidy()
          await this.#replay(signal)
        }
      } catch (error) {
        this.#report(
          'the cursor could not be saved, or old rows could not be removed: this is retried',
          error,
        )
        await pause(TIDY_EVERY_MS, signal)
      }
      await pause(SAVE_EVERY_MS, signal)
    }
  }

  #save({ done }: InFlight): Promise<boolean> {
    const cursor = { name: this.following.name, position: done, failures: this.#failures }
    return this.#cursors.save(cursor, this.#lease.owner)
  }

  async #replay(signal: AbortSignal): Promise<void> {
    for (const { id, event } of await this.#letters.waiting(this.following.name)) {
      if (signal.aborted || !this.#lease.isHeld) return
      try {
        if (event === undefined) throw new TypeError('its content was not stored, so it cannot be retried')
        await this.following.handle(event, signal)
        await this.#letters.remove(id)
      } catch (error) {
        await this.#letters.keep(id, error)
      }
    }
  }
}

/** Thrown if another process may be the leader. */
class LeaseLost extends Error {}

/** Returns true for an outage, which is not caused by the event and ends without intervention. */
const isOutage = (error: unknown): boolean =>
  error instanceof Unavailable || error instanceof DeadlineExceeded

const problemOf = (error: unknown): string => (error instanceof Error ? error.message : shownValue(error))

const toStderr: FailureReport = ({ message, error }) => {
  const { name, message: text } = error instanceof Error ? error : new Error(String(error))
  const record = {
    time: new Date().toISOString(),
    level: 'error',
    msg: message,
    err: { name, message: text },
  }
  process.stderr.write(`${JSON.stringify(record)}\n`)
}
