import type { DataSource, EntityManager, QueryRunner } from 'typeorm'
import { RequestContext } from '../../context.js'
import { Aborted, ErrPreconditionFailed, Unavailable } from '../../errors.js'
import type { Dialect } from '../dialects/dialect.js'
import { ENDED, late, OpenTransaction, surrounding, TransactionChain } from '../contract/open-transaction.js'
import { TransactionQueue } from '../contract/transaction-queue.js'
import type { Database, Executor, Result, RunOptions, Statement } from '../engines/executor/executor.js'
import { cancellation } from '../engines/errors/cancellation.js'
import { endedTransaction, mayHaveRolledBack } from '../engines/executor/ended-transaction.js'
import { named } from '../engines/executor/named.js'
import { PLAIN_READ } from '../engines/executor/locked-snapshot.js'
import { EndedBySql } from '../engines/executor/sent.js'
import { StaleStatement } from '../engines/errors/stale-statement.js'
import { readOnlyError } from '../engines/errors/read-only-error.js'
import type { OutboxRow } from '../outbox/events/outbox-row.js'
import { OutboxWriter } from '../outbox/sql/outbox-writer.js'
import type { ManagedTransaction, OpenSavepoint } from '../typeorm/managed-transaction.js'
import { typeormInside, type TypeormInside, type TransactionEvent } from '../typeorm/typeorm-inside.js'
import { toCaller } from '../engines/errors/to-caller.js'
import type { ConnectionState, TransactionParents } from './connection-state.js'
import { within } from './transaction-context.js'

const MARK = 'ashlar_operation'
const ROLLED_BACK = new Error('rolled back')

/**
 * A transaction or a savepoint. It sends one statement at a time; other calls wait in a queue, and all calls
 * wait while a nested scope is open. It is managed by `transaction.ts`, or by `joined-repository.ts` if
 * TypeORM began the transaction.
 */
export class TransactionScope extends OpenTransaction implements Executor, ManagedTransaction {
  readonly dialect: Dialect
  readonly #depth: number
  /** True if a savepoint is set (PostgreSQL only). `#isMarkFresh` is true if nothing was written since. */
  #isMarked = false
  #isMarkFresh = false
  #typeorm: TypeormInside | undefined

  constructor(
    private readonly pool: Database,
    readonly connection: ConnectionState,
    private readonly parents: TransactionParents,
    private readonly queue = new TransactionQueue(),
  ) {
    super(pool, parents.around, parents.parent, parents.isReadOnly)
    this.dialect = pool.dialect
    this.#depth = parents.parent === undefined ? 0 : parents.parent.#depth + 1
  }

  get isDistributed(): boolean | undefined {
    return this.pool.isDistributed
  }

  /**
   * Runs a statement in the transaction.
   *
   * @throws TypeError if the transaction has ended.
   * @throws Aborted if the database ended it.
   */
  run(statement: Statement, values: readonly unknown[], options?: RunOptions): Promise<Result> {
    return this.#enqueue(async () => {
      const send = () => this.#send(statement, values, options, this.#isMarking)
      return send().catch((error: unknown) => {
        if (!this.#isMarking || !(error instanceof StaleStatement) || this.connection.ended !== undefined)
          throw error
        return send()
      })
    })
  }

  /**
   * The executor for the operation that opened this scope. If one of its statements fails, the scope fails,
   * so that PostgreSQL needs no savepoint for each.
   */
  get strict(): Executor {
    return {
      dialect: this.dialect,
      isDistributed: this.isDistributed,
      run: (statement, values, options) => this.#enqueue(() => this.#send(statement, values, options, false)),
    }
  }

  override async append(rows: readonly OutboxRow[]): Promise<void> {
    this.refuseReadOnly('emit')
    await OutboxWriter.of(this.pool).appendOwn(this, rows)
  }

  override async checked<T>(work: () => Promise<T>): Promise<T> {
    const {
      transactions: { deferredRules: rules },
    } = this.dialect
    const { lease } = this.connection
    const violations = (count: string) =>
      this.#enqueue(async () => Number((await lease.run(named(count), [])).rows[0]?.[0]))
    const before = rules?.count === undefined ? 0 : await violations(rules.count)
    const result = await work()
    try {
      if (rules?.count === undefined) await this.#enqueue(async () => rules && lease.control(rules.check))
      else if ((await violations(rules.count)) > before) throw new ErrPreconditionFailed()
      return result
    } catch (error) {
      throw toCaller(error, this.parents.indexes)
    }
  }

  async #send(
    statement: Statement,
    values: readonly unknown[],
    options: RunOptions | undefined,
    isMarking: boolean,
  ): Promise<Result> {
    if (options?.signal?.aborted === true) throw cancellation(options.signal)
    const isRead = PLAIN_READ.test(statement.text)
    if (isRead) this.connection.snapshot.read()
    return this.#forgiving(isRead, () => this.connection.lease.run(statement, values, options), isMarking)
  }

  async #forgiving<T>(isRead: boolean, send: () => Promise<T>, isMarking = this.#isMarking): Promise<T> {
    if (isMarking) await this.#mark()
    this.connection.running++
    try {
      const result = await send()
      if (!isRead) this.#isMarkFresh = false
      return result
    } catch (error) {
      if (error instanceof EndedBySql) this.connection.ended = error
      else if (isMarking) await this.#rollBackTo(MARK, error)
      else if (endedTransaction(this.dialect, error) || (await this.#wasRolledBack(error)))
        this.connection.ended = error
      throw error
    } finally {
      this.connection.running--
    }
  }

  get dataSource(): DataSource {
    return this.pool.dataSource
  }

  override get held(): ConnectionState {
    return this.connection
  }

  /**
   * TypeORM's manager for this transaction.
   *
   * @throws TypeError if the transaction has ended.
   */
  get manager(): EntityManager {
    if (this.isOver && this.#typeorm === undefined) throw new TypeError(ENDED)
    this.#typeorm ??= typeormInside(this)
    return this.#typeorm.manager
  }

  queryRunner(): QueryRunner {
    return this.connection.lease.queryRunner()
  }

  /** Sends SQL of the application. It counts as a write, because its effects are unknown. */
  async send<T>(send: () => Promise<T>, options?: RunOptions): Promise<T> {
    try {
      if (!this.isOpen) throw late(RequestContext.current())
      return await this.perform('a query of the manager', () =>
        this.#enqueue(async () => {
          if (options?.signal?.aborted === true) throw cancellation(options.signal)
          this.connection.snapshot.read()
          return this.#forgiving(false, () => this.connection.lease.sent(send, options))
        }),
      )
    } catch (error) {
      if (this.isReadOnly && readOnlyError(error) !== undefined) this.refuseReadOnly('a write of the manager')
      throw toCaller(error)
    }
  }

  /**
   * Sends a statement of TypeORM on the same connection, in turn. The sender handles its effect on the
   * transaction.
   */
  beside<T>(send: () => Promise<T>): Promise<T> {
    this.connection.uses++
    return this.queue.run(() => {
      this.#isMarkFresh = false
      return send()
    })
  }

  /**
   * Checks that TypeORM can commit. PostgreSQL answers a COMMIT after a failed statement with ROLLBACK and no
   * error.
   *
   * @throws Aborted if a statement failed outside a savepoint.
   */
  async checkCommittable(): Promise<void> {
    if (!this.dialect.can.failureBlocksTransaction) return
    try {
      await this.connection.lease.control(`SAVEPOINT ${MARK}`)
    } catch (error) {
      if (error instanceof Unavailable) throw error
      throw new Aborted(
        'a statement of the transaction failed, so all of it is rolled back: let its error reject the transaction, or send it in manager.transaction()',
        error,
      )
    }
  }

  /** Returns a scope for a savepoint that TypeORM creates and ends on the same connection. */
  beneath(): TransactionScope {
    const parents = {
      around: TransactionChain.of(this),
      parent: this,
      isForgiving: true,
      isReadOnly: this.isReadOnly,
    }
    return new TransactionScope(this.pool, this.connection, parents, this.queue)
  }

  nestManager<T>(fn: (manager: EntityManager) => Promise<T>): Promise<T> {
    const context = RequestContext.current()
    return this.perform('manager.transaction', () =>
      this.nest(this.#surrounding, true, (scope) => within(scope, context, ({ manager }) => fn(manager))),
    )
  }

  /** Opens a savepoint that the caller commits or rolls back. */
  nestOpen(): Promise<OpenSavepoint> {
    return new Promise((resolve, reject) => {
      const done = this.perform('a transaction of the query runner', () =>
        this.nest(
          this.#surrounding,
          true,
          (transaction) =>
            new Promise<void>((commit, rollBack) => {
              resolve({
                transaction,
                commit: () => {
                  commit()
                  return done
                },
                rollBack: async () => {
                  rollBack(ROLLED_BACK)
                  await done.catch((error: unknown) => {
                    if (error !== ROLLED_BACK) throw error
                  })
                },
              })
            }),
        ),
      )
      done.catch(reject)
    })
  }

  get #surrounding(): TransactionChain | undefined {
    return TransactionChain.joined(TransactionChain.of(this), surrounding(undefined))
  }

  /** Notifies TypeORM's subscribers, if TypeORM's manager was used. */
  async beforeCommit(): Promise<void> {
    if (this.#typeorm === undefined) return
    const { announce } = this.#typeorm
    await announce('BeforeTransactionCommit')
    this.afterCommit(() => announce('AfterTransactionCommit'))
  }

  async #announce(event: TransactionEvent): Promise<void> {
    await this.#typeorm?.announce(event).catch((error: unknown) => {
      RequestContext.current().reportFailure('a TypeORM subscriber failed', error)
    })
  }

  /** Returns true if the transaction was rolled back. A new transaction can only begin if none is open. */
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

  /** Runs `body` in a savepoint. Other calls on this scope wait until it has settled. */
  nest<T>(
    around: TransactionChain | undefined,
    isForgiving: boolean,
    body: (scope: TransactionScope) => Promise<T>,
  ): Promise<T> {
    if (this.isOver) return Promise.reject(new TypeError(ENDED))
    this.connection.uses++
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
        await scope.rollBack(() => this.#rollBackTo(name, error, true))
        throw error
      }
    })
  }

  /**
   * Rejects new calls and waits for earlier ones.
   *
   * @throws TypeError if calls were not awaited.
   * @throws Aborted if the database has ended the transaction.
   */
  async end(): Promise<void> {
    try {
      await this.settle()
    } finally {
      await this.queue.settled()
    }
    this.#checkConnection()
  }

  /**
   * Rolls back the transaction or savepoint.
   *
   * @param send - rolls back the transaction or savepoint in the database.
   */
  async rollBack(send: () => Promise<void>): Promise<void> {
    await this.#announce('BeforeTransactionRollback')
    await this.end().catch(() => {})
    this.over('rolled back')
    await send()
    await this.#announce('AfterTransactionRollback')
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    if (this.isOver) return Promise.reject(new TypeError(ENDED))
    this.connection.uses++
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

  /**
   * Rolls back to the savepoint. If it is `done`, it is also released, because savepoints would otherwise
   * accumulate.
   */
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
