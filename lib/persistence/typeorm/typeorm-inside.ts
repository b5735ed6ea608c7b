import { EntityManager, EntityNotFoundError, type QueryRunner } from 'typeorm'
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel.js'
import { RequestContext } from '../../context.js'
import { ErrNotFound } from '../../errors.js'
import { refuseNested, tracked } from '../contract/open-transaction.js'
import { transactionControl } from '../dialects/control-in-text.js'
import { boundTimes } from './bound-times.js'
import type { ManagedTransaction, OpenSavepoint } from './managed-transaction.js'

/** The transaction events of TypeORM's subscribers. */
export type TransactionEvent =
  | 'BeforeTransactionStart'
  | 'AfterTransactionStart'
  | 'BeforeTransactionCommit'
  | 'AfterTransactionCommit'
  | 'BeforeTransactionRollback'
  | 'AfterTransactionRollback'

/** TypeORM's manager in one of Ashlar's transactions. */
export interface TypeormInside {
  readonly manager: EntityManager
  /** Notifies the DataSource's subscribers. */
  readonly announce: (event: TransactionEvent) => Promise<void>
}

/** Returns the transaction of a query runner whose manager Ashlar created. */
const transactions = new WeakMap<QueryRunner, ManagedTransaction>()

export const transactionOf = (runner: QueryRunner): ManagedTransaction | undefined => transactions.get(runner)

/** Returns TypeORM's manager for a transaction. Everything it sends waits for its turn. */
export function typeormInside(transaction: ManagedTransaction): TypeormInside {
  const runner = transaction.dataSource.createQueryRunner('master')
  const { manager } = runner
  transactions.set(runner, transaction)
  const announce = (event: TransactionEvent) => runner.broadcaster.broadcast(event)
  Object.assign(runner, runnerMethods(transaction, runner, announce))
  Object.assign(manager, watchedMethods(transaction, manager), {
    transaction: async (...operands: Operands) => {
      const [isolation, fn] = operands.length === 1 ? [undefined, operands[0]] : operands
      if (typeof isolation === 'string') refuseNested({ isolation })
      return transaction.nestManager(fn as Work)
    },
    preload: () => Promise.reject(new TypeError(PRELOAD)),
  })
  return { manager, announce }
}

type Work = (manager: EntityManager) => Promise<unknown>
type Operands = [Work] | [IsolationLevel, Work]
type Method = (...operands: unknown[]) => unknown

/**
 * Wraps the methods that return a promise. The transaction waits for them, and their errors contain no
 * values.
 */
function watchedMethods(
  transaction: ManagedTransaction,
  manager: EntityManager,
): Readonly<Record<string, Method>> {
  const methods: Record<string, Method> = {}
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(EntityManager.prototype))) {
    if (typeof value !== 'function' || name === 'constructor') continue
    const method = value as Method
    methods[name] = (...operands) => {
      const result = method.apply(manager, operands)
      if (!(result instanceof Promise)) return result
      const call = tracked(
        `manager.${name}`,
        transaction.perform(`manager.${name}`, () => result.catch(withoutCriteria)),
      )
      transaction.watch(call)
      return call
    }
  }
  return methods
}

/** Replaces an error of TypeORM that repeats the search criteria. */
function withoutCriteria(error: unknown): never {
  throw error instanceof EntityNotFoundError ? new ErrNotFound() : error
}

function runnerMethods(
  transaction: ManagedTransaction,
  runner: QueryRunner,
  announce: (event: TransactionEvent) => Promise<void>,
) {
  const { dialect } = transaction
  let own: QueryRunner | undefined
  let isAnnounced = false
  let savepoint: OpenSavepoint | undefined
  const sender = (): QueryRunner => {
    // The transaction's query runner logs and notifies subscribers itself, but with the manager and
    // broadcaster of the outer one.
    own ??= Object.assign(transaction.queryRunner(), {
      manager: runner.manager,
      broadcaster: runner.broadcaster,
    })
    return own
  }
  const begun = async () => {
    if (isAnnounced) return
    isAnnounced = true
    await announce('BeforeTransactionStart')
    await announce('AfterTransactionStart')
  }
  const ending = (): OpenSavepoint => {
    const open = savepoint
    savepoint = undefined
    Object.assign(runner, { transactionDepth: 1 })
    if (open === undefined) throw new TypeError(ENDS_BY_ITSELF)
    return open
  }
  const refuse = (message: string) => () => Promise.reject(new TypeError(message))
  return {
    isTransactionActive: true,
    transactionDepth: 1,
    query: async (text: string, values?: unknown[], useStructuredResult?: boolean): Promise<unknown> => {
      const control = transactionControl(text, dialect)
      if (control !== undefined) throw new TypeError(`${control}: ${BY_SQL}`)
      const { signal } = RequestContext.current()
      const on = savepoint?.transaction ?? transaction
      await begun()
      return on.send(
        () => sender().query(text, values && boundTimes(values, dialect), useStructuredResult as true),
        signal === undefined ? {} : { signal },
      )
    },
    startTransaction: async (isolation?: IsolationLevel) => {
      if (isolation !== undefined) refuseNested({ isolation })
      await announce('BeforeTransactionStart')
      savepoint = await transaction.nestOpen()
      Object.assign(runner, { transactionDepth: 2 })
      await announce('AfterTransactionStart')
    },
    commitTransaction: async () => {
      const open = ending()
      await announce('BeforeTransactionCommit')
      await open.commit()
      transaction.afterCommit(() => announce('AfterTransactionCommit'))
    },
    rollbackTransaction: async () => {
      const open = ending()
      await announce('BeforeTransactionRollback')
      await open.rollBack()
      await announce('AfterTransactionRollback')
    },
    connect: refuse(CONNECTION),
    stream: refuse(STREAM),
    release: refuse(ENDS_BY_ITSELF),
    beforeMigration: refuse(MIGRATION),
    afterMigration: refuse(MIGRATION),
    clearDatabase: refuse(MIGRATION),
  }
}

const BY_SQL =
  'a transaction cannot be started or ended by SQL inside another: nest with manager.transaction(), throw to roll back'
const ENDS_BY_ITSELF =
  'the transaction ends, and releases its connection, when its function returns: return to commit, throw to roll back'
const CONNECTION = 'the connection belongs to the transaction: send with query()'
const STREAM = "stream() would keep the transaction's connection: read pages with find()"
const MIGRATION = 'migrations and clearDatabase() run outside a transaction'
const PRELOAD =
  "TypeORM's preload() reads outside the transaction: find the entity, and change it with manager.merge()"
