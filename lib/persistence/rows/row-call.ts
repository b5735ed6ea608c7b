import type { RequestContext } from '../../context.js'
import type { Executor, RunOptions } from '../engines/executor/executor.js'
import type { Referable } from './referable.js'

/** What the reads and writes of one operation have in common. It is made once, and never changed. */
export interface RowCall extends RunOptions {
  /** Of the call that the operation is made for. */
  readonly context: RequestContext
  /** What hooks are called with, in the transaction of the operation; undefined where it calls none. */
  readonly inside?: RequestContext
}

/** In a database. */
export interface SqlCall extends RowCall {
  /** Where statements go: the pool, or a transaction. */
  readonly on: Executor
  /** What the caller of a write may refer to; everything when left out. */
  readonly referable?: Referable | undefined
}
