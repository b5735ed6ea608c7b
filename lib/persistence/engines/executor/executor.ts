import type { CallEnd } from '../../../call-end.js'
import type { DataSource, QueryRunner } from 'typeorm'
import type { RequestContext } from '../../../context.js'
import type { Dialect } from '../../dialects/dialect.js'

/**
 * A SQL statement with placeholders of its dialect: `$1` on PostgreSQL, `?` elsewhere. Build it once and
 * reuse it.
 */
export interface Statement {
  /** A name of at most 63 bytes that is unique in the process. The same name always has the same SQL. */
  readonly name: string
  readonly text: string
  /** The index of each placeholder's value, if placeholders share values. */
  readonly positions?: readonly number[]
  /**
   * True if the number of rows depends on the tenant or another value. The server then plans each run for its
   * values, because a cached plan only fits an average tenant. Omitted for statements that find rows by key.
   */
  readonly isPlannedByValue?: boolean
  /** The listed resource, if the statement is a repository's list. */
  readonly listed?: ListedRows
}

/** The description of a list in logs: the names of the entity and its table, never a value. */
export interface ListedRows {
  readonly entity: string
  readonly table: string
  /** The sort order in `order_by` syntax, including the key. */
  readonly order: string
  /**
   * The properties of the index that serves the largest part of the order, or undefined if no index helps.
   */
  readonly index: { readonly on: readonly string[]; readonly isDeclared: boolean } | undefined
  /** The reason why the index does not serve the whole order. */
  readonly unserved: Unserved | undefined
}

/**
 * The reason why an index serves only a part of a list's sort order: a property, a direction, or the tenant.
 */
export type Unserved =
  | { readonly why: 'unbounded' | 'nullable' | 'collation' | 'elsewhere'; readonly field: string }
  | { readonly why: 'directions' | 'tenants' }

/**
 * A row's values in the order of the select list; NULL is null. PostgreSQL returns every value as a string.
 * MySQL returns strings, Buffers, and numbers for floats and integers up to 32 bits. SQLite returns strings,
 * numbers and Buffers, and requires a distinct name for every selected column.
 */
export type Row = readonly unknown[]

export interface Result {
  readonly rows: readonly Row[]
  /**
   * The number of rows that a write matched, including rows whose values did not change. For other
   * statements, the number of returned rows.
   */
  readonly affected: number
}

export interface RunOptions {
  /**
   * If it aborts, `run` rejects with Cancelled or DeadlineExceeded, and cancels the statement if the driver
   * can.
   */
  readonly signal?: CallEnd
  /**
   * The call's context. Calls of different tenants take turns on the pool's connections. Default: the current
   * context.
   */
  readonly context?: RequestContext
  /** The number of repository calls in the statement. Default: 1. */
  readonly calls?: number
  /**
   * The maximum size of the result. If the executor `endsReads`, `run` rejects with TooManyBytes when the
   * rows exceed it, and discards the rest. The first row is always accepted.
   */
  readonly maxBytes?: number
}

/** A statement with its values. */
export interface BoundStatement {
  readonly statement: Statement
  readonly values: readonly unknown[]
}

/**
 * Runs a repository's SQL on a database, through a pool or in the context's transaction. Values may be null,
 * boolean, string, finite number, bigint, Buffer or Uint8Array. PostgreSQL also accepts arrays of these, and
 * SQLite infinities. Other values (`undefined`, a Date, an object) cause a TypeError. Rejects with a
 * DriverFault that contains the driver's codes but no values.
 */
export interface Executor {
  readonly dialect: Dialect
  /** True if the executor can end a read whose rows are too large without affecting later statements. */
  readonly endsReads?: boolean
  /**
   * True if tables may be distributed over several servers (Citus). Settings of a transaction then do not
   * reach all servers, and a statement for several tenants queries all of them. Undefined before the first
   * connection.
   */
  readonly isDistributed?: boolean | undefined
  run(statement: Statement, values: readonly unknown[], options?: RunOptions): Promise<Result>
}

/** One connection for a single user until it is released. */
export interface Lease extends Executor {
  /**
   * Sends transaction control (BEGIN, COMMIT, ROLLBACK, SAVEPOINT …). Rejects if the server answers COMMIT
   * with ROLLBACK.
   */
  control(text: string): Promise<void>
  /** Returns a TypeORM query runner that uses this connection and never releases it. */
  queryRunner(): QueryRunner
  /**
   * Waits for statements that such a query runner sends, with the cancellation and errors of `run`.
   *
   * @throws Aborted if the database has ended the transaction.
   */
  sent<T>(send: () => Promise<T>, options?: RunOptions): Promise<T>
  /** Returns the connection to the pool, or closes it if `broken` is set because its state is unknown. */
  release(options?: { readonly broken?: boolean }): void
}

/** The current use of a pool. */
export interface PoolUse {
  /** The number of connections that calls or transactions hold. */
  readonly used: number
  /** The number of calls that wait for a connection. */
  readonly waiting: number
  /** The number of statements so far that carried several calls. */
  readonly shared: number
  /** The number of calls in these statements. */
  readonly sharing: number
}

/** A DataSource's connection pool. */
export interface Database extends Executor {
  readonly dataSource: DataSource
  /** The number of statements that can run at the same time. */
  readonly connections: number
  /** Undefined if the engine has a single connection and no pool. */
  readonly use?: PoolUse
  /** The maximum number of connections per tenant: at least one, and at most all except one. */
  maxTenantConnections?: number
  /**
   * Lets waiting calls request a connection even if all are in use, because the pool has moved to another DSN
   * or is closing.
   */
  serveWaiting?(): void
  /** Runs several reads in one round trip. If one fails, all fail. Undefined if not supported. */
  runAll?(reads: readonly BoundStatement[], options?: RunOptions): Promise<readonly Result[]>
  /** Waits for a connection and reserves it. */
  lease(options?: RunOptions): Promise<Lease>
  /**
   * Returns the connection of a TypeORM query runner that has an open transaction. Only the query runner
   * releases it.
   */
  borrow(runner: QueryRunner): Promise<Lease>
  /**
   * Checks that the database accepts writes.
   *
   * @throws Unavailable while the database is read-only, from the first rejected write until writes succeed
   * again.
   */
  checkWrites(): Promise<void>
  /** Returns `host:port` of the workers of a distributed database that its coordinator cannot reach. */
  unreachableWorkers?(): readonly string[]
}
