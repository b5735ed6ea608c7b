import type { RequestContext } from '../../context.js'
import type { Executor, RunOptions } from '../engines/executor/executor.js'
import type { Referable } from './referable.js'

/** The part that the reads and writes of one operation share. It is created once, and never changed. */
export interface RowCall extends RunOptions {
  /** Of the call that the operation is made for. */
  readonly context: RequestContext
  /** The context of hooks, in the transaction of the operation; undefined if it calls none. */
  readonly inside?: RequestContext
}

/** In a database. */
export interface SqlCall extends RowCall {
  /** The executor of statements: the pool, or a transaction. */
  readonly on: Executor
  /** The rows that the caller of a write may refer to; omitted for all. */
  readonly referable?: Referable | undefined
}
