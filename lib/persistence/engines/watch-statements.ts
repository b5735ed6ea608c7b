import type { DataSource, Logger } from 'typeorm'
import { inPositions } from '../dialects/values/bound-value.js'
import type { BoundStatement, Database, Lease } from './executor/executor.js'
import { executorOf } from './executor-of.js'

/** A statement as it was handed to the driver, transaction control included. */
export interface SentStatement {
  readonly text: string
  /** The bound values. They include values of clients; secrets only as hash and ciphertext. */
  readonly values: readonly unknown[]
  /** The number of calls of repositories it carries: more than 1 where calls share a statement. */
  readonly calls: number
}

type Listener = (statement: SentStatement) => void

interface Watch {
  readonly listeners: Set<Listener>
  readonly stop: () => void
}

const watches = new WeakMap<DataSource, Watch>()

/**
 * Calls `listener` with every statement that is sent through a DataSource from now on, by repositories,
 * stores and TypeORM's own API. For tests and for diagnosis of a running service. It takes no time without
 * a listener.
 * @returns a function that stops it.
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

/** Statements of repositories and stores do not pass through TypeORM. */
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
    // The methods of the class show again.
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
  // A query runner's statements go through TypeORM's logger.
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
