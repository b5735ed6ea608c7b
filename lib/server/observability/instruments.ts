import type { Histogram, Meter } from '@opentelemetry/api'
import { cacheSizes } from '../../bounded-cache.js'
import {
  executorOf,
  onStatementTime,
  openDatabases,
  type Database,
} from '../../persistence/sql/transaction.js'

/**
 * The buckets of `http.server.request.duration` and `rpc.server.call.duration` in the semantic conventions.
 */
const CALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
/** The buckets of `db.client.operation.duration`. */
const STATEMENT_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]

/** The histograms measured in seconds. Prometheus includes the unit in their names. */
export const IN_SECONDS = [
  'rpc.server.call.duration',
  'http.server.request.duration',
  'db.client.operation.duration',
] as const

export type Instruments = ReturnType<typeof instrumentsOf>

export const instrumentsOf = (meter: Meter) => {
  observePools(meter)
  const cached = meter.createObservableGauge('ashlar.cache.entries', {
    unit: '{entry}',
    description: 'Entries of bounded caches in this process.',
  })
  cached.addCallback((result) => {
    for (const [name, entries] of cacheSizes()) result.observe(entries, { 'ashlar.cache.name': name })
  })
  const seconds = (name: (typeof IN_SECONDS)[number], description: string, boundaries = CALL_SECONDS) =>
    meter.createHistogram(name, {
      unit: 's',
      description,
      advice: { explicitBucketBoundaries: boundaries },
    })
  return {
    rpcDuration: seconds('rpc.server.call.duration', 'Duration of calls, as the server sees them.'),
    httpDuration: seconds(
      'http.server.request.duration',
      'Duration of HTTP requests, as the server sees them.',
    ),
    statementDuration: seconds(
      'db.client.operation.duration',
      'Duration of statements, as this process sees them.',
      STATEMENT_SECONDS,
    ),
    lag: meter.createObservableGauge('ashlar.events.lag', {
      unit: '{event}',
      description: 'Events that a relay or a consumer has not processed yet.',
    }),
    ignoredMasks: meter.createCounter('ashlar.gateway.ignored_update_masks', {
      description: 'Updates whose mask the gateway ignored in part.',
    }),
  }
}

/**
 * Records each statement of repositories and stores.
 * @returns a function that stops the recording.
 */
export const recordStatements = (durations: readonly Histogram[]): (() => void) =>
  onStatementTime(({ dataSource, statement, durationMs, error }) => {
    const attributes = {
      ...systemOf(executorOf(dataSource)),
      'db.namespace': dataSource.driver.database ?? '',
      'db.operation.name': operationOf(statement.text),
      ...(error instanceof Error && { 'error.type': error.name }),
    }
    for (const duration of durations) duration.record(durationMs / 1000, attributes)
  })

/**
 * Returns the statement's first word. The framework generates the statements, so the number of words is
 * small.
 */
const operationOf = (text: string): string => /^[\s(]*(\w+)/.exec(text)?.[1]?.toUpperCase() ?? ''

/** Returns the engine's name in lower case, as the conventions require. */
const systemOf = ({ dialect }: Database) => ({ 'db.system.name': dialect.label.toLowerCase() })

const observePools = (meter: Meter): void => {
  const connections = meter.createObservableGauge('db.client.connection.count', {
    unit: '{connection}',
    description: 'Connections that calls and transactions hold.',
  })
  const waiting = meter.createObservableGauge('db.client.connection.pending_requests', {
    unit: '{request}',
    description: 'Calls that wait for a connection.',
  })
  const shared = meter.createObservableCounter('ashlar.db.shared_statements', {
    unit: '{statement}',
    description: 'Statements that combined several calls.',
  })
  const sharing = meter.createObservableCounter('ashlar.db.shared_calls', {
    unit: '{call}',
    description: 'Calls that shared a statement.',
  })
  meter.addBatchObservableCallback(
    (result) => {
      for (const database of openDatabases()) {
        const { use, dataSource } = database
        if (use === undefined) continue
        const pool = {
          'db.client.connection.pool.name': dataSource.driver.database ?? '',
          ...systemOf(database),
        }
        result.observe(connections, use.used, { ...pool, 'db.client.connection.state': 'used' })
        result.observe(waiting, use.waiting, pool)
        result.observe(shared, use.shared, pool)
        result.observe(sharing, use.sharing, pool)
      }
    },
    [connections, waiting, shared, sharing],
  )
}
