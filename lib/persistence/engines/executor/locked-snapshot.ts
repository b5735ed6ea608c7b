import { ErrPreconditionFailed } from '../../../errors.js'
import type { Isolation } from '../../contract/repository.js'
import type { Dialect } from '../../dialects/dialect.js'
import type { Executor, RunOptions } from './executor.js'
import { named } from './named.js'

/** Reads leave nothing behind that a later rollback could undo: no rows, no locks, no settings. */
export const PLAIN_READ =
  /^\s*SELECT\b(?![^]*(?:\bFOR\s+(?:NO\s+KEY\s+|KEY\s+)?(?:UPDATE|SHARE)\b|\bLOCK\s+IN\s+SHARE\s+MODE\b|\bpg_(?:try_)?advisory|\bset_config\b))/i

/**
 * True if a transaction has locked rows while it goes on reading what it saw earlier. In repeatable read, a
 * read after the lock then misses what the lock has waited for.
 */
export class LockedSnapshot {
  #hasRead = false
  #isLocked = false
  #isStale: boolean | undefined

  /** @param level - undefined where the database decides, or TypeORM. */
  constructor(
    private readonly dialect: Dialect,
    private readonly level: Isolation | undefined,
  ) {}

  /** A statement that may read without a lock was sent. */
  read(): void {
    this.#hasRead = true
  }

  /** Rows were locked that the transaction need not write. */
  locked(): void {
    if (this.#hasRead || this.dialect.transactions.lockBeginsSnapshot !== undefined) this.#isLocked = true
  }

  /**
   * @throws ErrPreconditionFailed for a list or a count of the type that would miss what others have
   * committed.
   */
  async check(on: Executor, type: string, run: RunOptions): Promise<void> {
    if (!this.#isLocked) return
    this.#isStale ??= this.level === undefined ? await this.#ask(on, run) : this.level === 'repeatable read'
    if (this.#isStale) throw staleRead(type)
  }

  async #ask(on: Executor, run: RunOptions): Promise<boolean> {
    const {
      transactions: { lockBeginsSnapshot },
    } = this.dialect
    if (lockBeginsSnapshot === undefined) return false
    const { rows } = await on.run(named(lockBeginsSnapshot), [], run)
    return rows[0]?.[0] === 't'
  }
}

const staleRead = (type: string): ErrPreconditionFailed =>
  new ErrPreconditionFailed(undefined, [
    {
      kind: 'preconditionFailure',
      type: 'ISOLATION',
      subject: type,
      description:
        'rows are locked, and this list or count does not see what others have committed since: use the isolation read committed',
    },
  ])
