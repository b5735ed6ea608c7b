import { Unavailable } from '../../../errors.js'
import type { Lease, RunOptions } from './executor.js'
import { TAKES_NO_WRITES } from '../errors/read-only-error.js'

/** Readiness checks are given up after as long. */
const ASKING_MS = 2000

/** Whether a database takes writes, as far as is known: nothing is asked of it before it has refused one. */
export class Writability {
  #refusals = 0
  #asking: Promise<void> | undefined

  /**
   * @param lease - of the database.
   * @param isReadOnly - asks it on one connection.
   */
  constructor(
    private readonly lease: (options: RunOptions) => Promise<Lease>,
    private readonly isReadOnly: (on: Lease, options: RunOptions) => Promise<boolean>,
  ) {}

  /** A write was refused. */
  refused(): void {
    this.#refusals++
  }

  /**
   * Asks once, however many wait for it.
   * @throws Unavailable while the database takes no writes.
   */
  check(): Promise<void> {
    if (this.#refusals === 0) return Promise.resolve()
    this.#asking ??= this.#ask().finally(() => (this.#asking = undefined))
    return this.#asking
  }

  async #ask(): Promise<void> {
    const known = this.#refusals
    const options = { signal: AbortSignal.timeout(ASKING_MS) }
    const lease = await this.lease(options)
    let broken = true
    try {
      broken = await this.isReadOnly(lease, options)
    } finally {
      // The next one may lead to where writes are taken.
      lease.release({ broken })
    }
    if (broken) throw new Unavailable(TAKES_NO_WRITES)
    if (this.#refusals === known) this.#refusals = 0
  }
}
