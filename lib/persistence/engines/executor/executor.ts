import type { CallEnd } from '../../../call-end.js'
import type { DataSource, QueryRunner } from 'typeorm'
import type { RequestContext } from '../../../context.js'
import type { Dialect } from '../../dialects/dialect.js'

/**
 * SQL text with placeholders of its dialect (`$1` on PostgreSQL, `?` elsewhere). Build it once and keep it.
 */
export interface Statement {
  /** Unique in the process: the same name always carries the same text. At most 63 bytes. */
  readonly name: string
  readonly text: string
  /** For each placeholder the position of its value, where a value stands in several. */
  readonly positions?: readonly number[]
  /**
   * The rows it reads depend on the tenant or on other values, so the server plans it for the values of each
   * run: a cached plan would fit an average tenant. Omitted for statements that find rows by keys.
   */
  readonly isPlannedByValue?: boolean
  /** The resource that it lists, if it is a repository's list. */
  readonly listed?: ListedRows
}

/** The description of a list in logs: names of the entity and its table, and never a value. */
export interface ListedRows {
  readonly entity: string
  readonly table: string
  /** As `order_by` has it, with the key. */
  readonly order: string
  /** The properties of the index that serves most; undefined where none helps. */
  readonly index: { readonly on: readonly string[]; readonly isDeclared: boolean } | undefined
  /** Why an index does not give the whole order. */
  readonly unserved: Unserved | undefined
}

/** Why the order of a list ends before an index does: a property, a direction, or the tenant. */
export type Unserved =
  | { readonly why: 'unbounded' | 'nullable' | 'collation' | 'elsewhere'; readonly field: string }
  | { readonly why: 'directions' | 'tenants' }

/**
 * Values in the order of the select list. PostgreSQL returns everything as text; MySQL text, Buffers, and
 * numbers for integers up to 32 bits and floats; SQLite text, numbers and Buffers. NULL is null. On SQLite
 * every selected column needs a name of its own.
 */
export type Row = readonly unknown[]

export interface Result {
  readonly rows: readonly Row[]
  /**
   * Rows that a write found, including those whose values did not change; for other statements the number of
   * returned rows.
   */
  readonly affected: number
}

export interface RunOptions {
  /** Aborting rejects with Cancelled or DeadlineExceeded and cancels the SQL where the driver can. */
  readonly signal?: CallEnd
  /** Of the call. Calls that wait for a connection take turns by its tenant. Default: the current one. */
  readonly context?: RequestContext
  /** The number of calls of repositories the statement carries; 1 when left out. */
  readonly calls?: number
  /**
   * If the executor `endsReads`: rejects with TooManyBytes while rows arrive that have more bytes than this,
   * and holds no more of them. It always accepts the first row.
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
 * null, boolean, string, finite number, bigint, Buffer or Uint8Array, arrays of these on PostgreSQL,
 * infinities on SQLite; anything else (`undefined`, a Date, an object) is a TypeError. Rejects with a
 * DriverFault: the driver's codes, without values.
 */
export interface Executor {
  readonly dialect: Dialect
  /** True if it can end a read whose rows are too large without harm to what follows. */
  readonly endsReads?: boolean
  run(statement: Statement, values: readonly unknown[], options?: RunOptions): Promise<Result>
}

/** One connection for a single user until it is released. */
export interface Lease extends Executor {
  /**
   * Sends transaction control (BEGIN, COMMIT, ROLLBACK, SAVEPOINT …). A COMMIT to which the server responds
   * with ROLLBACK rejects.
   */
  control(text: string): Promise<void>
  /** A query runner of TypeORM that sends to this connection, and never lets it go. */
  queryRunner(): QueryRunner
  /**
   * Waits for what such a query runner sends, with the cancellation and the errors of `run`.
   * @throws Aborted when it has ended the transaction.
   */
  sent<T>(send: () => Promise<T>, options?: RunOptions): Promise<T>
  /** Returns the connection to the pool; `broken` closes it instead, because its state is unknown. */
  release(options?: { readonly broken?: boolean }): void
}

/** The current use of a pool. */
export interface PoolUse {
  /** Connections that a call or a transaction holds. */
  readonly used: number
  /** Calls that wait for a connection. */
  readonly waiting: number
  /** Statements so far that carried several calls. */
  readonly shared: number
  /** The calls that they carried. */
  readonly sharing: number
}

/** The pool of one DataSource. */
export interface Database extends Executor {
  readonly dataSource: DataSource
  /** The number of statements that can run at the same time. */
  readonly connections: number
  /**
   * True if tables may be on several servers (Citus): a setting of a transaction is not seen on all of them,
   * and a statement for several tenants asks them all. Undefined until a connection was made.
   */
  readonly isDistributed?: boolean | undefined
  /** Undefined where there is one connection and no pool. */
  readonly use?: PoolUse
  /** The most connections that calls of one tenant hold; never more than all but one, and at least one. */
  maxTenantConnections?: number
  /** Lets waiting calls ask the pool, whatever is in use: it moved to another DSN, or it ends. */
  serveWaiting?(): void
  /** Runs several reads in one round trip; the first failure fails all. Undefined where the engine cannot. */
  runAll?(reads: readonly BoundStatement[], options?: RunOptions): Promise<readonly Result[]>
  /** Waits for a connection. */
  lease(options?: RunOptions): Promise<Lease>
  /**
   * The connection of a TypeORM query runner that has a transaction open. Only the query runner releases it.
   */
  borrow(runner: QueryRunner): Promise<Lease>
  /** @throws Unavailable while the database is read-only: from a refused write until writes work again. */
  checkWrites(): Promise<void>
}
