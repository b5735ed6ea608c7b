import type { DataSource } from 'typeorm'
import type { Statement } from '../executor/executor.js'

/** A statement of a repository or a store that has ended. */
export interface StatementTime {
  readonly dataSource: DataSource
  readonly statement: Statement
  /** From the moment at which its connection was free, in milliseconds. */
  readonly durationMs: number
  /** Why it failed; undefined for one that did not. */
  readonly error?: unknown
}

type Listener = (time: StatementTime) => void

const listeners = new Set<Listener>()

/** Calls `listener` with each statement of this process that ends. @returns a function that stops it. */
export function onStatementTime(listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** The same promise. It costs nothing while nobody listens. */
export function timed<T>(dataSource: DataSource, statement: Statement, running: Promise<T>): Promise<T> {
  if (listeners.size === 0) return running
  const since = performance.now()
  const tell = (error?: unknown) => {
    const time = { dataSource, statement, durationMs: performance.now() - since, error }
    for (const listener of listeners) listener(time)
  }
  running.then(() => tell(), tell)
  return running
}
