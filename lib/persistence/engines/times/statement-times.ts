import type { DataSource } from 'typeorm'
import type { ListedRows, Statement } from '../executor/executor.js'

/** A statement of a repository or a store that has ended. */
export interface StatementTime {
  readonly dataSource: DataSource
  readonly statement: Statement
  /** From the moment at which its connection was free, in milliseconds. */
  readonly durationMs: number
  /** Why it failed; undefined for one that did not. */
  readonly error?: unknown
}

/** A list of a repository that has ended. */
export interface ListTime extends StatementTime {
  readonly listed: ListedRows
}

type Listener = (time: StatementTime) => void

const listeners = new Set<Listener>()
const listListeners = new Set<(time: ListTime) => void>()

/** Calls `listener` with each statement of this process that ends. @returns a function that stops it. */
export function onStatementTime(listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Calls `listener` with the time of each list, and times nothing else. @returns a function that ends it. */
export function onListTime(listener: (time: ListTime) => void): () => void {
  listListeners.add(listener)
  return () => void listListeners.delete(listener)
}

/** The result of `run`. It takes no time without a listener. */
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
