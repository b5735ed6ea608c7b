import { Internal } from '../../../errors.js'
import type { Executor, Lease, Result, RunOptions, Statement } from './executor.js'

/**
 * A lease whose transaction begins with the first statement that needs one. An operation that reads a row,
 * calls a hook that uses no database and writes the row sends two statements then, and not four.
 *
 * Only for an engine where a lease keeps out every other caller of the process (`can.leaseAlone`), which is
 * SQLite. Callers of other processes are not kept out before it begins: what was read outside has to be
 * compared when it is written.
 */
export class LateTransaction implements Lease {
  #begun: Promise<void> | undefined
  #isNeeded = false
  #isWritten = false

  /** @param begin - the statements that begin it. */
  constructor(
    private readonly lease: Lease,
    private readonly begin: readonly string[],
  ) {}

  get dialect(): Executor['dialect'] {
    return this.lease.dialect
  }

  /** Whether somebody has sent, or may send, statements inside of it. */
  get isNeeded(): boolean {
    return this.#isNeeded
  }

  /** For reads before it begins. */
  get outside(): Executor {
    return this.lease
  }

  /** For the one write that is all of the transaction. */
  readonly instead: Executor = {
    dialect: this.lease.dialect,
    run: (statement, values, options) => {
      this.#isWritten = true
      return this.lease.run(statement, values, options)
    },
  }

  async run(statement: Statement, values: readonly unknown[], options?: RunOptions): Promise<Result> {
    await this.#open()
    return this.lease.run(statement, values, options)
  }

  async control(text: string): Promise<void> {
    if (this.#begun === undefined && (text === 'COMMIT' || text === 'ROLLBACK')) return
    await this.#open()
    await this.lease.control(text)
  }

  queryRunner(): ReturnType<Lease['queryRunner']> {
    this.#isNeeded = true
    return this.lease.queryRunner()
  }

  async sent<T>(send: () => Promise<T>, options?: RunOptions): Promise<T> {
    await this.#open()
    return this.lease.sent(send, options)
  }

  release(options?: { readonly broken?: boolean }): void {
    this.lease.release(options)
  }

  #open(): Promise<void> {
    this.#isNeeded = true
    this.#begun ??= this.#send()
    return this.#begun
  }

  async #send(): Promise<void> {
    if (this.#isWritten) throw new Internal('a statement followed the write that was all of the transaction')
    for (const statement of this.begin) await this.lease.control(statement)
  }
}

/**
 * Another process has written the row since it was read outside of the transaction: the operation begins
 * again.
 */
export class ChangedMeanwhile extends Error {}
