import { Unavailable } from '../../../errors.js'
import type { Lease, RunOptions } from './executor.js'
import { TAKES_NO_WRITES } from '../errors/read-only-error.js'

/** Readiness checks have the same timeout. */
const ASKING_MS = 2000

/**
 * Whether a database responds and accepts writes, as far as known. It is queried only after it could not be reached, and then has
 * to respond, or after it has refused a write, and then has to accept writes.
 */
export class Writability {
  #refusals = 0
  #losses = 0
  #asking: Promise<void> | undefined

  /**
   * @param lease - leases a connection of the database.
   * @param isReadOnly - queries it on one connection.
   */
  constructor(
    private readonly lease: (options: RunOptions) => Promise<Lease>,
    private readonly isReadOnly: (on: Lease, options: RunOptions) => Promise<boolean>,
  ) {}

  /** A write was refused. */
  refused(): void {
    this.#refusals++
  }

  /** No connection was made, or one was lost. */
  unreachable(): void {
    this.#losses++
  }

  /**
   * Queries once for all concurrent callers.
   * @throws Unavailable while the database is read-only, or cannot be reached.
   */
  check(): Promise<void> {
    if (this.#refusals === 0 && this.#losses === 0) return Promise.resolve()
    this.#asking ??= this.#ask().finally(() => (this.#asking = undefined))
    return this.#asking
  }

  async #ask(): Promise<void> {
    const [refusals, losses] = [this.#refusals, this.#losses]
    const options = { signal: AbortSignal.timeout(ASKING_MS) }
    const lease = await this.lease(options)
    let broken = true
    try {
      broken = (await this.isReadOnly(lease, options)) && refusals > 0
    } finally {
      // The next connection may lead to a writable server.
      lease.release({ broken })
    }
    if (broken) throw new Unavailable(TAKES_NO_WRITES)
    if (this.#refusals === refusals) this.#refusals = 0
    if (this.#losses === losses) this.#losses = 0
  }
}
