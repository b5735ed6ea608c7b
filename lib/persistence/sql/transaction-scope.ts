import { Aborted } from '../../errors.js'
import type { Dialect } from '../dialects/dialect.js'
import { ENDED, OpenTransaction, TransactionChain } from '../contract/open-transaction.js'
import { TransactionQueue } from '../contract/transaction-queue.js'
import type {
  Database,
  Executor,
  Lease,
  Result,
  RunOptions,
  Statement,
} from '../engines/executor/executor.js'
import { cancellation } from '../engines/errors/cancellation.js'
import { endedTransaction, mayHaveRolledBack } from '../engines/executor/ended-transaction.js'
import { StaleStatement } from '../engines/errors/stale-statement.js'

/** Reads leave nothing behind that a later failure could take along: neither rows, nor locks, nor settings. */
const PLAIN_READ =
  /^\s*SELECT\b(?![^]*(?:\bFOR\s+(?:NO\s+KEY\s+|KEY\s+)?(?:UPDATE|SHARE)\b|\bLOCK\s+IN\s+SHARE\s+MODE\b|\bpg_(?:try_)?advisory|\bset_config\b))/i
const MARK = 'ashlar_operation'

/** What all scopes of one transaction have in common. */
interface ConnectionState {
  readonly lease: Lease
  /** Why the database ended the transaction before we did. */
  ended: unknown
}

interface TransactionParents {
  /** The transactions that this one was started in, of whatever database. */
  readonly around: TransactionChain | undefined
  /** The scope of the same transaction that waits for this one. */
  readonly parent: TransactionScope | undefined
  /** A failed statement leaves the scope usable, on PostgreSQL too. */
  readonly isForgiving: boolean
  readonly isReadOnly: boolean
}

/**
 * A transaction, or a savepoint inside of one. Sends one statement at a time: what is called meanwhile waits in a queue,
 * and so does everything while a nested scope is open. Owned by `transaction.ts`.
 */
export class TransactionScope extends OpenTransaction implements Executor {
  readonly dialect: Dialect
  readonly #depth: number
  /** PostgreSQL only: a savepoint is set, and nothing was written since. */
  #isMarked = false
  #isMarkFresh = false

  constructor(
    private readonly pool: Database,
    private readonly connection: ConnectionState,
    private readonly parents: TransactionParents,
    private readonly queue = new TransactionQueue(),
  ) {
    super(pool, parents.around, parents.parent, parents.isReadOnly)
    this.dialect = pool.dialect
    this.#depth = parents.parent === undefined ? 0 : parents.parent.#depth + 1
  }

  /** @throws TypeError when the transaction has ended. @throws Aborted when the database ended it. */
  run(statement: Statement, values: readonly unknown[], options?: RunOptions): Promise<Result> {
    return this.#enqueue(async () => {
      if (options?.signal?.aborted === true) throw cancellation(options.signal)
      const send = () => this.#send(statement, values, options)
      return send().catch((error: unknown) => {
        if (!this.#isMarking || !(error instanceof StaleStatement) || this.connection.ended !== undefined)
          throw error
        return send()
      })
    })
  }

  async #send(statement: Statement, values: readonly unknown[], options?: RunOptions): Promise<Result> {
    if (this.#isMarking) await this.#mark()
    try {
      const result = await this.connection.lease.run(statement, values, options)
      if (!PLAIN_READ.test(statement.text)) this.#isMarkFresh = false
      return result
    } catch (error) {
      if (this.#isMarking) await this.#rollBackTo(MARK, error)
      else if (endedTransaction(this.dialect, error) || (await this.#wasRolledBack(error)))
        this.connection.ended = error
      throw error
    }
  }

  /** A transaction can be begun where none is open, and nowhere else. */
  async #wasRolledBack(error: unknown): Promise<boolean> {
    if (!mayHaveRolledBack(this.dialect, error)) return false
    const { lease } = this.connection
    const isOpen = await lease.control('BEGIN').then(
      () => false,
      () => true,
    )
    if (!isOpen) await lease.control('ROLLBACK')
    return !isOpen
  }

  get #isMarking(): boolean {
    return this.parents.isForgiving && this.dialect.can.failureBlocksTransaction
  }

  /** Runs `body` in a savepoint; everything else on this scope waits until it is through. */
  nest<T>(
    around: TransactionChain | undefined,
    isForgiving: boolean,
    body: (scope: TransactionScope) => Promise<T>,
  ): Promise<T> {
    if (this.isOver) return Promise.reject(new TypeError(ENDED))
    return this.queue.runNested(async (queue) => {
      this.#checkConnection()
      const parents = { around, parent: this, isForgiving, isReadOnly: this.isReadOnly }
      const scope = new TransactionScope(this.pool, this.connection, parents, queue)
      const name = `ashlar_${scope.#depth}`
      await this.connection.lease.control(`SAVEPOINT ${name}`)
      this.#isMarkFresh = false
      try {
        const result = await body(scope)
        await scope.end()
        await this.connection.lease.control(`RELEASE SAVEPOINT ${name}`)
        scope.over('kept')
        return result
      } catch (error) {
        await scope.end().catch(() => {})
        scope.over('rolled back')
        await this.#rollBackTo(name, error, true)
        throw error
      }
    })
  }

  /**
   * Refuses what is called from now on, and resolves when what was called before is through.
   * @throws TypeError when calls were not awaited. @throws Aborted when the database ended the transaction meanwhile.
   */
  async end(): Promise<void> {
    try {
      await this.settle()
    } finally {
      await this.queue.settled()
    }
    this.#checkConnection()
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    if (this.isOver) return Promise.reject(new TypeError(ENDED))
    return this.queue.run(() => {
      this.#checkConnection()
      return work()
    })
  }

  #checkConnection(): void {
    if (this.connection.ended === undefined) return
    throw new Aborted('the database ended the transaction: retry', this.connection.ended)
  }

  async #mark(): Promise<void> {
    if (this.#isMarkFresh) return
    await this.connection.lease.control(
      this.#isMarked ? `RELEASE SAVEPOINT ${MARK}; SAVEPOINT ${MARK}` : `SAVEPOINT ${MARK}`,
    )
    this.#isMarked = true
    this.#isMarkFresh = true
  }

  /** The savepoint stays where it is, unless it is `done` with: left behind, they would pile up. */
  async #rollBackTo(name: string, error: unknown, done = false): Promise<void> {
    if (this.connection.ended !== undefined) return
    try {
      await this.connection.lease.control(`ROLLBACK TO SAVEPOINT ${name}`)
      if (done) await this.connection.lease.control(`RELEASE SAVEPOINT ${name}`)
    } catch {
      this.connection.ended = error
    }
  }
}
