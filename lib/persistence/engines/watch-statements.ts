import type { DataSource, Logger } from 'typeorm'
import { inPositions } from '../dialects/values/bound-value.js'
import type { BoundStatement, Database, Lease } from './executor/executor.js'
import { executorOf } from './executor-of.js'

/** A statement as the driver received it, including transaction control. */
export interface SentStatement {
  readonly text: string
  /** The bound values. They include values of clients, but secrets only as hash and ciphertext. */
  readonly values: readonly unknown[]
  /** The number of repository calls in the statement. It is greater than 1 if calls share the statement. */
  readonly calls: number
}

/** @inline */
type Listener = (statement: SentStatement) => void

interface Watch {
  readonly listeners: Set<Listener>
  readonly stop: () => void
}

const watches = new WeakMap<DataSource, Watch>()

/**
 * Calls `listener` with every statement that repositories, stores and TypeORM's own API send through a
 * DataSource from now on. Intended for tests and for diagnosing a running service. Adds no overhead without a
 * listener.
 *
 * @returns a function that removes the listener.
 */
export function watchStatements(dataSource: DataSource, listener: Listener): () => void {
  const watch = watches.get(dataSource) ?? install(dataSource)
  watches.set(dataSource, watch)
  watch.listeners.add(listener)
  return () => {
    watch.listeners.delete(listener)
    if (watch.listeners.size > 0 || watches.get(dataSource) !== watch) return
    watches.delete(dataSource)
    watch.stop()
  }
}

function install(dataSource: DataSource): Watch {
  const listeners = new Set<Listener>()
  const tell: Listener = (statement) => {
    for (const listener of listeners) listener(statement)
  }
  const restore = [watchDatabase(executorOf(dataSource), tell), watchLogger(dataSource, tell)]
  return { listeners, stop: () => restore.forEach((undo) => undo()) }
}

/** Reports the statements of repositories and stores, which do not pass through TypeORM. */
function watchDatabase(database: Database, tell: Listener): () => void {
  const run = database.run.bind(database)
  const runAll = database.runAll?.bind(database)
  const lease = database.lease.bind(database)
  const mine: Pick<Database, 'run' | 'runAll' | 'lease'> = {
    run: (statement, values, options) => {
      tell(sent({ statement, values }, options?.calls))
      return run(statement, values, options)
    },
    ...(runAll !== undefined && {
      runAll: (reads, options) => {
        for (const read of reads) tell(sent(read))
        return runAll(reads, options)
      },
    }),
    lease: async (options) => watchedLease(await lease(options), tell),
  }
  Object.assign(database, mine)
  return () => {
    // Deleting the properties restores the methods of the class.
    if (database.run === mine.run) Reflect.deleteProperty(database, 'run')
    if (database.runAll === mine.runAll) Reflect.deleteProperty(database, 'runAll')
    if (database.lease === mine.lease) Reflect.deleteProperty(database, 'lease')
  }
}

const sent = ({ statement, values }: BoundStatement, calls = 1): SentStatement => ({
  text: statement.text,
  values: inPositions(values, statement),
  calls,
})

const watchedLease = (inner: Lease, tell: Listener): Lease => ({
  dialect: inner.dialect,
  run: (statement, values, options) => {
    tell(sent({ statement, values }))
    return inner.run(statement, values, options)
  },
  control: (text) => {
    tell({ text, values: [], calls: 1 })
    return inner.control(text)
  },
  // TypeORM's logger reports the statements of a query runner.
  queryRunner: () => inner.queryRunner(),
  sent: (send, options) => inner.sent(send, options),
  release: (options) => inner.release(options),
})

function watchLogger(dataSource: DataSource, tell: Listener): () => void {
  const { logger } = dataSource
  const logQuery: Logger['logQuery'] = (query, parameters, runner) => {
    tell({ text: query, values: (parameters as readonly unknown[] | undefined) ?? [], calls: 1 })
    logger.logQuery(query, parameters, runner)
  }
  const watched = new Proxy(logger, {
    get: (target, name): unknown => {
      if (name === 'logQuery') return logQuery
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  dataSource.logger = watched
  return () => {
    if (dataSource.logger === watched) dataSource.logger = logger
  }
}
