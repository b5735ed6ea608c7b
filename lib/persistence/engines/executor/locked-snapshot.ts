import { ErrPreconditionFailed } from '../../../errors.js'
import type { Isolation } from '../../contract/repository.js'
import type { Dialect } from '../../dialects/dialect.js'
import type { Executor, RunOptions } from './executor.js'
import { named } from './named.js'

/** Matches reads without side effects that a later rollback would have to undo, such as locks or settings. */
export const PLAIN_READ =
  /^\s*SELECT\b(?![^]*(?:\bFOR\s+(?:NO\s+KEY\s+|KEY\s+)?(?:UPDATE|SHARE)\b|\bLOCK\s+IN\s+SHARE\s+MODE\b|\bpg_(?:try_)?advisory|\bset_config\b))/i

/**
 * Detects transactions that lock rows while their reads use an older snapshot. In repeatable read, a read
 * after the lock would miss the changes that the lock waited for.
 */
export class LockedSnapshot {
  #hasRead = false
  #isLocked = false
  #isStale: boolean | undefined

  /**
   * @param level - the isolation level. Undefined if the database or TypeORM chooses it.
   */
  constructor(
    private readonly dialect: Dialect,
    private readonly level: Isolation | undefined,
  ) {}

  /** Records that a statement was sent that may read without a lock. */
  read(): void {
    this.#hasRead = true
  }

  /** Records that rows were locked that the transaction may not write. */
  locked(): void {
    if (this.#hasRead || this.dialect.transactions.lockBeginsSnapshot !== undefined) this.#isLocked = true
  }

  /**
   * Checks the snapshot before a list or count.
   *
   * @throws ErrPreconditionFailed if a list or count of the type would miss committed changes.
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
        'rows are locked, but this list or count does not see what others have committed since: use the isolation read committed',
    },
  ])
