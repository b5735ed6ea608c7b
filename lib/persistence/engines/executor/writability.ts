import type { CallEnd } from '../../../call-end.js'
import { DeadlineExceeded, Unavailable } from '../../../errors.js'
import { ReportLimit } from '../../../faults/report-limit.js'
import { cancellation } from '../errors/cancellation.js'
import { TAKES_NO_WRITES } from '../errors/read-only-error.js'
import { LACKS_RESOURCES } from '../errors/resource-error.js'
import { tellDatabaseDoubt } from './database-doubts.js'
import type { BoundStatement, Lease, RunOptions } from './executor.js'

/** The maximum duration of a query in milliseconds, as for readiness checks. */
const ASKING_MS = 2000

/** An engine's queries about writes. */
export interface WriteQuestions {
  /** Returns true if the connection's server rejects writes. */
  isReadOnly(on: Lease, options: RunOptions): Promise<boolean>
  /** Returns true if a rollback undoes everything that a statement did. If omitted, it always does. */
  isUndone?(on: Lease, sent: BoundStatement, options: RunOptions): Promise<boolean>
  /** Commits a write that changes nothing. Some engines only detect a full disk at the commit. */
  commit?(on: Lease, options: RunOptions): Promise<void>
}

/** Matches statements that another transaction can repeat and roll back. */
const CAN_REPEAT = /^\s*(?:INSERT|UPDATE|DELETE|REPLACE|WITH)\b/i

/**
 * Tracks whether a database responds and accepts writes. It is queried only after a failure: after a lost
 * connection or a timeout it must respond, and after a rejected write it must accept writes.
 */
export class Writability {
  #refusals = 0
  #losses = 0
  /** The number of responses so far. While it grows, the database responds, even if calls wait. */
  #responses = 0
  /**
   * Set after a write failed for lack of space: the last such write that can be repeated, or undefined if
   * none can.
   */
  #unstored: { readonly sent: BoundStatement | undefined } | undefined
  #asking: Promise<void> | undefined
  #question: AbortSignal | undefined
  readonly #reports = new ReportLimit()

  /**
   * @param lease - reserves a connection of the database.
   * @param questions - the engine's queries, each of which runs on one connection.
   */
  constructor(
    private readonly lease: (options: RunOptions) => Promise<Lease>,
    private readonly questions: WriteQuestions,
    private readonly askingMs = ASKING_MS,
  ) {}

  /** Records that a write was rejected. */
  refused(): void {
    if (this.#refusals++ === 0) tellDatabaseDoubt({})
  }

  /** Records that a connection failed or was lost. */
  unreachable(): void {
    if (this.#losses++ === 0) tellDatabaseDoubt({})
  }

  /**
   * Records that a write failed for lack of space. `check` repeats the write and rolls it back until it
   * succeeds.
   *
   * @param sent - undefined for a COMMIT, or for a write of other code.
   */
  full(sent?: BoundStatement): void {
    if (sent !== undefined && /^\s*SELECT\b/i.test(sent.statement.text)) return
    const before = this.#unstored
    const canRepeat = sent !== undefined && CAN_REPEAT.test(sent.statement.text)
    this.#unstored = { sent: canRepeat ? sent : before?.sent }
    if (before === undefined) tellDatabaseDoubt({})
  }

  /** Records that a statement returned a result. */
  responded(): void {
    this.#responses++
  }

  /** Records that a call ended before the database returned its result. */
  late(signal: CallEnd): void {
    if (signal !== this.#question) this.unreachable()
  }

  /**
   * Records that a call's deadline passed before it got a connection. The reason is logged, because the
   * caller may have left.
   *
   * @param why - the state of the pool.
   */
  waited(signal: CallEnd, why: string): void {
    if (signal === this.#question) return
    this.unreachable()
    if (!(cancellation(signal) instanceof DeadlineExceeded)) return
    const error = new DeadlineExceeded(`the deadline passed without a connection to the database: ${why}`)
    this.#reports.tell('', error, (more) =>
      tellDatabaseDoubt({ report: { message: `calls wait for a connection without success${more}`, error } }),
    )
  }

  /**
   * Queries the database once for all concurrent callers.
   *
   * @throws Unavailable if the database is read-only or does not respond.
   */
  check(): Promise<void> {
    if (this.#refusals === 0 && this.#losses === 0 && this.#unstored === undefined) return Promise.resolve()
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
        broken = (await this.questions.isReadOnly(lease, options)) && refusals > 0
        if (!broken && this.#unstored !== undefined) {
          broken = true
          await this.#write(lease, this.#unstored.sent, options)
          broken = false
        }
      } finally {
        // Closes a connection to a read-only server, because the next one may reach a writable server.
        lease.release({ broken })
      }
    } catch (error) {
      // The query got no connection because other calls use all of them. So the database responds.
      const isBusy =
        options.signal.aborted &&
        refusals === 0 &&
        this.#unstored === undefined &&
        this.#responses > responses
      if (!isBusy) throw error
    }
    if (broken) throw new Unavailable(TAKES_NO_WRITES)
    if (this.#refusals === refusals) this.#refusals = 0
    if (this.#losses === losses) this.#losses = 0
  }

  /**
   * Repeats the write. A different failure than the first, such as a duplicate key, shows that there is
   * space.
   *
   * @throws Unavailable if there is still no space. If no write can be repeated, throws once; the next
   *   write shows whether there is space.
   */
  async #write(lease: Lease, sent: BoundStatement | undefined, options: RunOptions): Promise<void> {
    const { questions } = this
    const repeated =
      sent === undefined || (await questions.isUndone?.(lease, sent, options)) === false ? undefined : sent
    if (repeated !== undefined) await this.#repeat(lease, repeated, options)
    await questions.commit?.(lease, options)
    this.#unstored = undefined
    if (repeated === undefined && questions.commit === undefined) throw new Unavailable(LACKS_RESOURCES)
  }

  async #repeat(lease: Lease, { statement, values }: BoundStatement, options: RunOptions): Promise<void> {
    await lease.control('BEGIN')
    try {
      await lease.run(statement, values, options)
    } catch (error) {
      if (error instanceof Unavailable || options.signal?.aborted === true) throw error
    } finally {
      await lease.control('ROLLBACK')
    }
  }
}
