import type { RequestContext } from '../../context.js'
import type { Executor, RunOptions } from '../engines/executor/executor.js'
import type { Referable } from './referable.js'

/** The data that the reads and writes of one operation share. Created once and never changed. */
export interface RowCall extends RunOptions {
  readonly context: RequestContext
  /** The context of hooks in the operation's transaction. Undefined if the operation calls none. */
  readonly inside?: RequestContext
}

/** An operation in a database. */
export interface SqlCall extends RowCall {
  /** The executor of statements: the pool or a transaction. */
  readonly on: Executor
  /** The rows that the caller of a write may refer to. Undefined for all rows. */
  readonly referable?: Referable | undefined
}
