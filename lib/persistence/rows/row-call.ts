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
  /** Where the transaction begins only when a hook needs it: on SQLite. */
  readonly late?: LateCalls<SqlCall> | undefined
  /** What the caller of a write may refer to; everything when left out. */
  readonly referable?: Referable | undefined
}

/** The same call around a transaction that may never begin. */
export interface LateCalls<C> {
  /** Whether somebody has sent, or may send, statements inside of it. */
  readonly isNeeded: boolean
  /** For reads before it begins. */
  readonly outside: C
  /** For the one write that is all of it. */
  readonly instead: C
}
