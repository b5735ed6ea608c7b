import type { CallEnd } from '../../../call-end.js'
import type { DataSource, QueryRunner } from 'typeorm'
import type { RequestContext } from '../../../context.js'
import type { Dialect } from '../../dialects/dialect.js'

/** SQL with placeholders of its dialect (`$1` on PostgreSQL, `?` elsewhere). Build it once and reuse it. */
export interface Statement {
  /** Unique in the process: the same name always belongs to the same SQL. At most 63 bytes. */
  readonly name: string
  readonly text: string
  /** The index of each placeholder's value, if a value is used by several placeholders. */
  readonly positions?: readonly number[]
  /**
   * True if the rows it reads depend on the tenant or on other values. The server then plans it for the
   * values of each run, because a cached plan would only fit an average tenant. Omitted for statements that
   * find rows by keys.
   */
  readonly isPlannedByValue?: boolean
  /** The listed resource, if the statement is a repository's list. */
  readonly listed?: ListedRows
}

/** The description of a list in logs: names of the entity and its table, never a value. */
export interface ListedRows {
  readonly entity: string
  readonly table: string
  /** The sort order in the syntax of `order_by`, including the key. */
  readonly order: string
  /** The properties of the index that serves most of the order; undefined if no index helps. */
  readonly index: { readonly on: readonly string[]; readonly isDeclared: boolean } | undefined
  /** The reason why the index does not cover the whole order. */
  readonly unserved: Unserved | undefined
}

/**
 * The reason why an index covers only a part of a list's sort order: a property, a direction, or the tenant.
 */
export type Unserved =
  | { readonly why: 'unbounded' | 'nullable' | 'collation' | 'elsewhere'; readonly field: string }
  | { readonly why: 'directions' | 'tenants' }

/**
 * Values in the order of the select list; NULL is null. PostgreSQL returns every value as a string. MySQL
 * returns strings, Buffers, and numbers for floats and integers up to 32 bits. SQLite returns strings,
 * numbers and Buffers, and needs a distinct name for every selected column.
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
  /** Aborting rejects with Cancelled or DeadlineExceeded and cancels the SQL if the driver can. */
  readonly signal?: CallEnd
  /**
   * The call's context. Calls that wait for a connection take turns by its tenant. Default: the current
   * context.
   */
  readonly context?: RequestContext
  /** The number of repository calls that the statement carries. Default: 1. */
  readonly calls?: number
  /**
   * The maximum size of the result. If the executor `endsReads`, `run` rejects with TooManyBytes when the
   * arriving rows exceed it, and discards the rest. It always accepts the first row.
   */
  readonly maxBytes?: number
}

/** A statement with its values. */
export interface BoundStatement {
  readonly statement: Statement
  readonly values: readonly unknown[]
}

/**
 * Runs a repository's SQL on a database: through a pool, or in the transaction of the context. Values may be
 * null, boolean, string, finite number, bigint, Buffer or Uint8Array. Arrays of these are allowed on
 * PostgreSQL, infinities on SQLite. Anything else (`undefined`, a Date, an object) causes a TypeError.
 * Rejects with a DriverFault that contains the driver's codes, without values.
 */
export interface Executor {
  readonly dialect: Dialect
  /** True if it can stop a read whose rows are too large without affecting later statements. */
  readonly endsReads?: boolean
  /**
   * True if tables may be spread over several servers (Citus): a transaction's settings do not reach all
   * servers, and a statement for several tenants queries all of them. Undefined until the first connection.
   */
  readonly isDistributed?: boolean | undefined
  run(statement: Statement, values: readonly unknown[], options?: RunOptions): Promise<Result>
}

/** One connection for a single user until it is released. */
export interface Lease extends Executor {
  /**
   * Sends transaction control (BEGIN, COMMIT, ROLLBACK, SAVEPOINT …). Rejects if the server responds to
   * COMMIT with ROLLBACK.
   */
  control(text: string): Promise<void>
  /** Returns a TypeORM query runner that uses this connection and never releases it. */
  queryRunner(): QueryRunner
  /**
   * Waits for what such a query runner sends, with the same cancellation and errors as `run`.
   * @throws Aborted if the database has ended the transaction.
   */
  sent<T>(send: () => Promise<T>, options?: RunOptions): Promise<T>
  /** Returns the connection to the pool. With `broken`, closes it instead because its state is unknown. */
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
  /** The number of calls that those statements carried. */
  readonly sharing: number
}

/** A DataSource's connection pool. */
export interface Database extends Executor {
  readonly dataSource: DataSource
  /** The number of statements that can run at the same time. */
  readonly connections: number
  /** Undefined if the engine has a single connection and no pool. */
  readonly use?: PoolUse
  /**
   * The maximum number of connections that calls of one tenant hold: at least one, and at most all but one.
   */
  maxTenantConnections?: number
  /**
   * Lets waiting calls request a connection regardless of how many are in use: the pool moved to another DSN,
   * or is closing.
   */
  serveWaiting?(): void
  /** Runs several reads in one round trip; if one fails, all fail. Undefined if the engine cannot do this. */
  runAll?(reads: readonly BoundStatement[], options?: RunOptions): Promise<readonly Result[]>
  /** Waits for a connection. */
  lease(options?: RunOptions): Promise<Lease>
  /**
   * Returns the connection of a TypeORM query runner that has an open transaction. Only the query runner
   * releases it.
   */
  borrow(runner: QueryRunner): Promise<Lease>
  /**
   * @throws Unavailable while the database is read-only: from the first rejected write until writes work
   * again.
   */
  checkWrites(): Promise<void>
  /** The `host:port` of the other servers of a distributed database that do not answer its coordinator. */
  unreachableWorkers?(): readonly string[]
}
