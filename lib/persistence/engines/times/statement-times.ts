import type { DataSource } from 'typeorm'
import type { ListedRows, Statement } from '../executor/executor.js'

/** A completed statement of a repository or store. */
export interface StatementTime {
  readonly dataSource: DataSource
  readonly statement: Statement
  /** The time in milliseconds since the statement had a connection. */
  readonly durationMs: number
  /** The error, if the statement failed. */
  readonly error?: unknown
}

/** A completed list of a repository. */
export interface ListTime extends StatementTime {
  readonly listed: ListedRows
}

type Listener = (time: StatementTime) => void

const listeners = new Set<Listener>()
const listListeners = new Set<(time: ListTime) => void>()

/**
 * Calls `listener` with each completed statement of this process.
 *
 * @returns a function that removes the listener.
 */
export function onStatementTime(listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/**
 * Calls `listener` with each completed list. Other statements are not timed.
 *
 * @returns a function that removes the listener.
 */
export function onListTime(listener: (time: ListTime) => void): () => void {
  listListeners.add(listener)
  return () => void listListeners.delete(listener)
}

/** Runs a statement and reports its duration. Adds no overhead without a listener. */
export function timed<T>(dataSource: DataSource, statement: Statement, run: () => Promise<T>): Promise<T> {
  const { listed } = statement
  const isListHeard = listed !== undefined && listListeners.size > 0
  if (listeners.size === 0 && !isListHeard) return run()
  const since = performance.now()
  const running = run()
  const tell = (error?: unknown) => {
    const time = { dataSource, statement, durationMs: performance.now() - since, error }
    for (const listener of listeners) listener(time)
    if (isListHeard) for (const listener of listListeners) listener({ ...time, listed })
  }
  running.then(() => tell(), tell)
  return running
}
