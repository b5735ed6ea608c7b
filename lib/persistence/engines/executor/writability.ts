import type { CallEnd } from '../../../call-end.js'
import { DeadlineExceeded, Unavailable } from '../../../errors.js'
import { ReportLimit } from '../../../faults/report-limit.js'
import { cancellation } from '../errors/cancellation.js'
import { TAKES_NO_WRITES } from '../errors/read-only-error.js'
import { LACKS_RESOURCES } from '../errors/resource-error.js'
import { tellDatabaseDoubt } from './database-doubts.js'
import type { BoundStatement, Lease, RunOptions } from './executor.js'

/** Readiness checks have the same timeout. */
const ASKING_MS = 2000

/** The queries to run on an engine. */
export interface WriteQuestions {
  /** True if the server behind a connection refuses writes. */
  isReadOnly(on: Lease, options: RunOptions): Promise<boolean>
  /** True if a rollback takes back all that a statement did; always, where left out. */
  isUndone?(on: Lease, sent: BoundStatement, options: RunOptions): Promise<boolean>
  /** Commits a write that changes nothing, where an engine may find no room as late as that. */
  commit?(on: Lease, options: RunOptions): Promise<void>
}

/** The statements that another transaction can repeat, and roll back. */
const CAN_REPEAT = /^\s*(?:INSERT|UPDATE|DELETE|REPLACE|WITH)\b/i

/**
 * True if a database responds and accepts writes, as far as known. It is queried only after it could not be
 * reached or did not respond to a call in time, and then has to respond, or after it has refused a write, and
 * then has to accept writes.
 */
export class Writability {
  #refusals = 0
  #losses = 0
  /** Responses so far: while there are any, the database responds, however many calls wait. */
  #responses = 0
  /** A write found no room: the last one that can be repeated, if there is one. */
  #unstored: { readonly sent: BoundStatement | undefined } | undefined
  #asking: Promise<void> | undefined
  #question: AbortSignal | undefined
  readonly #reports = new ReportLimit()

  /**
   * @param lease - leases a connection of the database.
   * @param questions - of its engine, each asked on one connection.
   */
  constructor(
    private readonly lease: (options: RunOptions) => Promise<Lease>,
    private readonly questions: WriteQuestions,
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

  /**
   * A write failed for lack of space. It is repeated, and rolled back, until it succeeds.
   * @param sent - undefined if it was a COMMIT, or sent by other code.
   */
  full(sent?: BoundStatement): void {
    if (sent !== undefined && /^\s*SELECT\b/i.test(sent.statement.text)) return
    const before = this.#unstored
    const canRepeat = sent !== undefined && CAN_REPEAT.test(sent.statement.text)
    this.#unstored = { sent: canRepeat ? sent : before?.sent }
    if (before === undefined) tellDatabaseDoubt({})
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
   * The deadline of a call passed before it got a connection. Its caller may have left before, so the log
   * gets the reason.
   * @param why - the state of the pool.
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
        // The next connection may lead to a writable server.
        lease.release({ broken })
      }
    } catch (error) {
      // Nothing came free for the question, because calls get what they ask for.
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
   * Any failure other than the first one, such as a duplicate key, shows that there was space.
   * @throws Unavailable if there is still none, and once if nothing can be repeated: the next write will show
   * it.
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
