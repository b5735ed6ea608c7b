import type { EntityManager, QueryRunner } from 'typeorm'
import { RequestContext } from '../../context.js'
import { insideOf, runAfterCommit } from '../contract/open-transaction.js'
import { contextOf, viewOf } from '../repository/repository-view.js'
import type { Database, Lease } from '../engines/executor/executor.js'
import { transactionOf } from '../typeorm/typeorm-inside.js'
import { LockedSnapshot } from '../engines/executor/locked-snapshot.js'
import { TransactionScope } from './transaction-scope.js'

/** The TypeORM transactions that repositories have joined, by query runner. */
const joinedRunners = new WeakMap<QueryRunner, JoinedRunner>()

/**
 * Returns a repository whose calls run in the open transaction of a TypeORM manager.
 *
 * @throws TypeError if the manager has no open transaction or belongs to another DataSource.
 */
export function joinedRepository<R extends object>(
  repository: R,
  database: Database,
  manager: EntityManager,
): R {
  scopeOf(database, manager)
  return viewOf(repository, (_, operands, run) => {
    let inside: RequestContext
    try {
      inside = insideOf(scopeOf(database, manager), contextOf(operands))
    } catch (error) {
      return Promise.reject(error as Error)
    }
    return inside.run(run)
  })
}

function scopeOf(database: Database, { queryRunner, dataSource }: EntityManager): TransactionScope {
  if (dataSource !== database.dataSource)
    throw new TypeError('withManager: the manager belongs to another DataSource than the repository')
  const own = queryRunner && transactionOf(queryRunner)
  if (own instanceof TransactionScope) return own
  if (queryRunner?.isTransactionActive !== true)
    throw new TypeError(
      'withManager: the manager has no open transaction: use the one that dataSource.transaction() passes to its function',
    )
  const known = joinedRunners.get(queryRunner)
  if (known !== undefined) return known.innermost
  const joined = new JoinedRunner(database, queryRunner)
  joinedRunners.set(queryRunner, joined)
  return joined.innermost
}

/**
 * Follows a transaction that TypeORM begins and ends. Hooks into its query runner to learn about both, and to
 * wait for repository calls.
 */
class JoinedRunner {
  readonly #scopes: TransactionScope[] = []
  readonly #context = RequestContext.current()

  constructor(
    database: Database,
    private readonly runner: QueryRunner,
  ) {
    const connection = {
      lease: borrowed(database, runner),
      snapshot: new LockedSnapshot(database.dialect, undefined),
      ended: undefined,
      uses: 0,
      running: 0,
    }
    const parents = { around: undefined, parent: undefined, isForgiving: true, isReadOnly: false }
    this.#scopes.push(new TransactionScope(database, connection, parents))
    // This property is protected, but it is the only source of the number of savepoints.
    const { transactionDepth } = runner as unknown as { readonly transactionDepth: number }
    while (this.#scopes.length < transactionDepth) this.#scopes.push(this.innermost.beneath())
    this.#follow()
  }

  get innermost(): TransactionScope {
    return this.#scopes.at(-1) as TransactionScope
  }

  #follow(): void {
    const { runner } = this
    const query = runner.query.bind(runner)
    const start = runner.startTransaction.bind(runner)
    const commit = runner.commitTransaction.bind(runner)
    const rollBack = runner.rollbackTransaction.bind(runner)
    const followed = {
      query: (...operands: Parameters<QueryRunner['query']>) =>
        this.innermost.beside(() => query(...operands)),
      startTransaction: async (...operands: Parameters<QueryRunner['startTransaction']>) => {
        await start(...operands)
        this.#scopes.push(this.innermost.beneath())
      },
      commitTransaction: async () => {
        await this.innermost.end()
        if (this.#scopes.length === 1) await this.innermost.checkCommittable()
        await commit()
        await this.#ended('kept')
      },
      rollbackTransaction: async () => {
        await this.innermost.end().catch(() => {})
        try {
          await rollBack()
        } finally {
          await this.#ended('rolled back')
        }
      },
    }
    Object.assign(runner, followed)
  }

  async #ended(outcome: 'kept' | 'rolled back'): Promise<void> {
    const fns = this.innermost.over(outcome)
    if (this.#scopes.length > 1) {
      this.#scopes.pop()
      return
    }
    joinedRunners.delete(this.runner)
    // Deleting the properties restores the methods of the class.
    for (const name of ['query', 'startTransaction', 'commitTransaction', 'rollbackTransaction'])
      Reflect.deleteProperty(this.runner, name)
    await runAfterCommit(fns, this.#context)
  }
}

/** Borrows the query runner's connection when a repository first sends a statement. */
function borrowed(database: Database, runner: QueryRunner): Lease {
  let lease: Promise<Lease> | undefined
  const borrow = () => (lease ??= database.borrow(runner))
  return {
    get dialect() {
      return database.dialect
    },
    run: async (statement, values, options) => (await borrow()).run(statement, values, options),
    control: async (text) => (await borrow()).control(text),
    queryRunner: () => runner,
    sent: async (send, options) => (await borrow()).sent(send, options),
    release: () => {},
  }
}
