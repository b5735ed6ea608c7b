import type { CallEnd } from '../../../call-end.js'
import { DeadlineExceeded, Unavailable } from '../../../errors.js'
import { ReportLimit } from '../../../faults/report-limit.js'
import { cancellation } from '../errors/cancellation.js'
import { TAKES_NO_WRITES } from '../errors/read-only-error.js'
import { tellDatabaseDoubt } from './database-doubts.js'
import type { Lease, RunOptions } from './executor.js'

/** Readiness checks have the same timeout. */
const ASKING_MS = 2000

/**
 * Whether a database responds and accepts writes, as far as known. It is queried only after it could not be reached or did not respond
 * to a call in time, and then has to respond, or after it has refused a write, and then has to accept writes.
 */
export class Writability {
  #refusals = 0
  #losses = 0
  /** Responses so far: while there are any, the database responds, however many calls wait. */
  #responses = 0
  #asking: Promise<void> | undefined
  #question: AbortSignal | undefined
  readonly #reports = new ReportLimit()

  /**
   * @param lease - leases a connection of the database.
   * @param isReadOnly - queries it on one connection.
   */
  constructor(
    private readonly lease: (options: RunOptions) => Promise<Lease>,
    private readonly isReadOnly: (on: Lease, options: RunOptions) => Promise<boolean>,
    private readonly askingMs = ASKING_MS,
  ) {}

  /** A write was refused. */
  refused(): void {
    if (this.#refusals++ === 0) tellDatabaseDoubt({})
  }

  /** No connection was made, or one was lost. */
  unreachable(): void {
    if (this.#losses++ === 0) tellDatabaseDoubt({})
  }

  /** A statement has a result. */
  responded(): void {
    this.#responses++
  }

  /** A call has ended before the database had a result for it. */
  late(signal: CallEnd): void {
    if (signal !== this.#question) this.unreachable()
  }

  /**
   * The deadline of a call has passed before it got a connection. Its caller may have been told before, so the log gets the reason.
   * @param why - what the pool looks like.
   */
  waited(signal: CallEnd, why: string): void {
    if (signal === this.#question) return
    this.unreachable()
    if (!(cancellation(signal) instanceof DeadlineExceeded)) return
    const error = new DeadlineExceeded(`the deadline passed without a connection to the database: ${why}`)
    this.#reports.tell('', error, (more) =>
      tellDatabaseDoubt({ report: { message: `calls wait for a connection in vain${more}`, error } }),
    )
  }

  /**
   * Queries once for all concurrent callers.
   * @throws Unavailable while the database is read-only, or does not respond.
   */
  check(): Promise<void> {
    if (this.#refusals === 0 && this.#losses === 0) return Promise.resolve()
    this.#asking ??= this.#ask().finally(() => (this.#asking = undefined))
    return this.#asking
  }

  async #ask(): Promise<void> {
    const [refusals, losses, responses] = [this.#refusals, this.#losses, this.#responses]
    this.#question = AbortSignal.timeout(this.askingMs)
    const options = { signal: this.#question }
    let broken = false
    try {
      const lease = await this.lease(options)
      broken = true
      try {
        broken = (await this.isReadOnly(lease, options)) && refusals > 0
      } finally {
        // The next connection may lead to a writable server.
        lease.release({ broken })
      }
    } catch (error) {
      // Nothing came free for the question, because calls get what they ask for.
      const isBusy = options.signal.aborted && refusals === 0 && this.#responses > responses
      if (!isBusy) throw error
    }
    if (broken) throw new Unavailable(TAKES_NO_WRITES)
    if (this.#refusals === refusals) this.#refusals = 0
    if (this.#losses === losses) this.#losses = 0
  }
}
