import type { Field } from '../../resource/fields/field.js'
import type { KindName } from '../../resource/kinds/kind.js'
import type { Isolation } from '../contract/repository.js'
import type { LockClause } from '../contract/row-lock.js'
import type { Direction } from '../query/order-by.js'
import type { Catalog, LiveSchema, Namespace } from './catalog/live-table.js'
import type { InexactColumns } from './catalog/inexact-columns.js'
import type { MigrationSql } from './catalog/migration-sql.js'
import type { ColumnDefinition, Query, TableDefinition, TableName } from './catalog/table-definition.js'
import type { Gathered } from './values/gathered.js'
import type { HandOver } from './values/hand-over.js'
import type { JsonSql } from './values/json-sql.js'
import type { KindsSql } from './values/kind-sql.js'
import type { CoalescingSql } from './values/coalescing-sql.js'
import type { TypeormColumnsSql } from './typeorm/typeorm-columns-sql.js'
import type { TagSql } from './values/tag-sql.js'

/**
 * The engines. `mysql` is MySQL 8 and `mariadb` is MariaDB through the MySQL driver; their capabilities
 * differ.
 * @inline
 */
export type DialectName = 'postgres' | 'mysql' | 'mariadb' | 'sqlite'

/** The capabilities of an engine. Callers check these, never the engine's name. */
export interface Capabilities {
  /** An array can be bound as one parameter. */
  readonly arrays: boolean
  /**
   * Writes can return the written rows. MariaDB supports this for INSERT only and MySQL not at all, so both
   * are false.
   */
  readonly returning: boolean
  /** Tables may be distributed over several servers by an extension. */
  readonly distribution: boolean
  /** One statement can write different values to many rows, from arrays. */
  readonly setWrites: boolean
  /** Writing statements can begin with WITH, and so lock the rows that they refer to. */
  readonly writeWith: boolean
  /** A joined query can refer to earlier tables. MariaDB does not support this. */
  readonly lateral: boolean
  /** `(a, b) > (1, 2)` uses an index. */
  readonly rowComparison: boolean
  /** Indexes can have a condition. Otherwise the column `soft_delete_key` replaces it. */
  readonly partialIndexes: boolean
  /** UPDATE and DELETE have a LIMIT and cannot read from the table that they write. */
  readonly limitedDelete: boolean
  /** CREATE INDEX has IF NOT EXISTS. */
  readonly indexIfMissing: boolean
  /**
   * DDL statements can be rolled back. Otherwise a migration creates a table and its keys in one statement.
   */
  readonly transactionalDdl: boolean
  /** After a failed statement, a transaction accepts no other until it is rolled back to a savepoint. */
  readonly failureBlocksTransaction: boolean
  /**
   * Indexes sort NULLs at the same end as lists do, so an index can provide the order of a nullable column.
   */
  readonly nullsInOrder: boolean
  /** If an index provides the order of the first terms, only the remaining terms are sorted. */
  readonly sortsInPart: boolean
  /** The engine has full-text search. Otherwise a search looks for a substring. */
  readonly fullText: boolean
  /** An infinity can be bound as a number. */
  readonly infinities: boolean
}

/** The properties of a driver error that show the state of the transaction. */
export interface DriverCodes {
  readonly code?: unknown
  readonly errno?: unknown
  readonly fatal?: unknown
}

/** The SQL of keys that the database generates. */
export interface IdentitySql {
  /** The clause after the column's type in CREATE TABLE. */
  readonly column: string
  /** True if this clause makes the column the primary key, so that no other clause does. */
  readonly isPrimaryKey: boolean
  /** Returns true if the column's largest generated number is the kind's. */
  readonly endsWithKind: (kind: KindName) => boolean
  /**
   * Returns the column in 64-bit arithmetic that fails on overflow, for values that an INSERT returns.
   * Undefined if the engine rounds instead, or does not return rows.
   */
  readonly in64Bits: ((column: string) => string) | undefined
  /** The clause after the table's name if a new row has no other column. */
  readonly alone: string
  /**
   * Returns the statements that make an existing column generate numbers, starting after the existing ones.
   */
  readonly added: (table: TableName, column: ColumnDefinition) => string
  /** Selects the number that the connection generated last. Undefined if INSERT returns the row. */
  readonly last: string | undefined
}

export interface BeginOptions {
  readonly isolation?: Isolation
  readonly readOnly?: boolean
}

/**
 * The differences between database engines, one object per engine. Strings are SQL unless their comment says
 * otherwise.
 */
export interface Dialect {
  readonly name: DialectName
  /** The engine's name in messages. */
  readonly label: string
  readonly can: Capabilities
  readonly text: TextDialect
  readonly values: ValuesDialect
  readonly transactions: TransactionsDialect
  readonly ddl: DdlDialect
  readonly catalog: CatalogDialect
  readonly stores: StoreSql
}

/** Writes names and strings in SQL, and compares strings. */
export interface TextDialect {
  /** Quotes an identifier. */
  readonly quote: (name: string) => string
  /** Returns a string literal. The string must come from a declaration, never from a caller. */
  readonly literal: (text: string) => string
  /** Concatenates at least two strings. */
  readonly concat: (parts: readonly string[]) => string
  /**
   * Returns a case-sensitive test for a substring. The operands are written in the order of their parameters.
   */
  readonly contains: (text: () => string, needle: () => string) => string
  /** Returns a case-insensitive test for a search term. Undefined if the engine has full-text search. */
  readonly containsTerm: ((text: string) => string) | undefined
  /**
   * Matches the words of a SQL string, and also its string literals, quoted names, comments and semicolons,
   * so that these can be skipped.
   */
  readonly tokens: RegExp
  /** The collation clause of strings: compares by code point, including trailing spaces. */
  readonly collation: string
  /** Returns a column with this collation, or unchanged if its own collation compares in the same way. */
  readonly exactly: (column: string, collation: string) => string
}

/** Binds, stores, compares and reads values and lists of values. */
export interface ValuesDialect {
  readonly kinds: KindsSql
  /** Returns a placeholder for a number of rows, in a form that every driver accepts. */
  readonly countPlaceholder: (index: number) => string
  /** The maximum number of values in one statement. */
  readonly maxValues: number
  /** Combines all rows of a result into one string. Undefined if the engine cannot. */
  readonly gathered: Gathered | undefined
  /** Returns an expression for the size of a column's value in bytes. NULL if the value is NULL. */
  readonly byteLength: (column: string, kind: KindName) => string
  /**
   * Returns true if the rows of a page are combined into one string.
   *
   * @param isAlone - true if the page is read without relations.
   */
  readonly gathersPage: (fields: readonly Field[], isAlone: boolean) => boolean
  /**
   * Lets later statements of a round trip use values that the first one reads. Undefined if the engine
   * cannot.
   */
  readonly handOver: HandOver | undefined
  /**
   * Returns an ORDER BY term for a nullable column. NULLs come last in ascending order and first in
   * descending order.
   */
  readonly orderNullable: (column: string, direction: Direction) => string
  /** Returns the later of a column's time and a value, or the value if the column is NULL. */
  readonly later: (column: string, value: string) => string
  readonly json: JsonSql
  readonly tags: TagSql
  /** The SQL of shared statements. Undefined if every call has its own statement. */
  readonly coalescing: CoalescingSql | undefined
}

/** Begins and ends transactions, and locks rows. */
export interface TransactionsDialect {
  /** Matches the words of a statement that begins or ends a transaction or a savepoint. */
  readonly control: RegExp
  /** Returns the statements that begin a transaction. */
  readonly begin: (options: BeginOptions) => readonly string[]
  /**
   * Returns the lock clause of a SELECT. It is empty if the engine runs only one writing transaction at a
   * time. Throws a TypeError that names the engine and the lock if the engine does not support it.
   */
  readonly rowLock: (clause: LockClause) => string
  /**
   * Selects true if the running transaction reads from its first snapshot, so that even a locking read misses
   * changes that others have committed since. Undefined if locking reads always return the newest rows.
   */
  readonly isSnapshotFixed: string | undefined
  /**
   * Selects true if a locking read took the snapshot of a repeatable-read transaction before it waited for
   * the lock. Undefined if only reads without a lock take the snapshot.
   */
  readonly lockBeginsSnapshot: string | undefined
  /**
   * Checks constraints that the engine otherwise checks at COMMIT: `check` fails if one is violated, `count`
   * selects the number of violations. Undefined if the engine does not defer constraints.
   */
  readonly deferredRules:
    { readonly check: string; readonly count?: never } | { readonly count: string } | undefined
  /** Returns true if this error may mean that the engine ended the transaction. */
  readonly endsTransaction: (error: DriverCodes) => boolean
  /** Returns true if only the connection knows whether the transaction was rolled back. */
  readonly mayRollBack: (error: DriverCodes) => boolean
}

/** Index types other than B-trees. */
export interface IndexMethods {
  /**
   * Returns the catalog's name of a declared index type, or undefined if TypeORM creates a plain index on
   * this engine.
   */
  readonly of: (declared: string) => string | undefined
  /**
   * True if the type precedes the word INDEX, as in `FULLTEXT INDEX`. Otherwise it follows as `USING gin`.
   */
  readonly isFirst: boolean
}

/** Creates tables, columns and generated keys. */
export interface DdlDialect {
  readonly indexMethods: IndexMethods
  /** The SQL of columns that TypeORM manages and Ashlar does not read. */
  readonly typeormColumns: TypeormColumnsSql
  readonly identity: IdentitySql
  /** The clause after the parentheses of CREATE TABLE. */
  readonly tableOptions: string
  /**
   * Follows `tableOptions` in a migration. Its columns then have no collation of their own. Empty if each
   * column has one.
   */
  readonly tableCollation: string
  /**
   * The default of a UUID column that TypeORM lets the database generate. Undefined if TypeORM generates the
   * UUID.
   */
  readonly generatedUuid?: string
  /** The default of a column for the creation time. */
  readonly now: string
  /**
   * Adds missing columns to an older table and drops indexes whose declaration has changed. `indexes` are the
   * statements that create the new ones. Undefined if migrations do this.
   */
  readonly updateTable:
    ((query: Query, table: TableDefinition, indexes: readonly string[]) => Promise<void>) | undefined
  /** Returns the keys of a table that the engine rejects, each with advice. */
  readonly refusedKeys: (table: TableDefinition) => readonly string[]
  /** The SQL of migrations. Undefined if tables are created at run time. */
  readonly migration: MigrationSql | undefined
}

/** Queries the catalog. */
export interface CatalogDialect {
  /**
   * Selects a row if a trigger or rule of a table may suppress a write without an error. Parameter: the
   * quoted table. Undefined if the engine has none that can.
   */
  readonly suppressingTriggers: string | undefined
  /** The namespace of tables. Undefined if the connection determines it. */
  readonly namespace: Namespace | undefined
  /** Finds a table's foreign keys. Undefined if they can only be created with the table. */
  readonly foreignKeys: ForeignKeySql | undefined
  /**
   * Selects as `name` the columns of a table without a foreign key, on engines that cannot add one. Both
   * parameters are the table.
   */
  readonly columnsWithoutForeignKey: string | undefined
  /**
   * Selects as `name` the columns whose times have no zone. TypeORM's own manager reads and writes them in
   * the process's zone. Parameter: the quoted table. Undefined if this does not depend on column types.
   */
  readonly timesWithoutZone: string | undefined
  /**
   * Selects as `name` the columns whose times have no milliseconds. Undefined if every time column has them.
   */
  readonly timesWithoutMillis: ForeignKeySql['find'] | undefined
  /** Selects the connection's setting if it rounds floats. Undefined if the engine never does. */
  readonly roundedFloats: string | undefined
  readonly inexactColumns: InexactColumns
  /** Reads live schemas for comparison. Undefined if the engine does not support it. */
  readonly live: Catalog | undefined
  /** Returns the dialect of the connected server. */
  readonly identify: (live: LiveSchema) => Promise<Dialect>
}

export interface ForeignKeySql {
  /** True if referring and referenced columns must have the same collation. */
  readonly needsOneCollation: boolean
  /** Returns the query that selects the names of a table's foreign keys as `name`. */
  readonly find: (table: TableName) => { readonly text: string; readonly values: readonly unknown[] }
}

/** A unique column of integers, limited to some rows of a table. */
export interface NumberKey {
  readonly column: string
  /** The name of its unique index. */
  readonly index: string
  /** The column that is NULL in these rows. PostgreSQL has a partial index on them. */
  readonly whileNull: string
}

/** The SQL of the server's own tables. It uses the time of the database, because process clocks differ. */
export interface StoreSql {
  /** The current time in the format of the tables. */
  readonly now: string
  /** The current time plus a number of milliseconds. Contains one `?`. */
  readonly later: string
  /** Placeholders that may be NULL in places without a type. */
  readonly bound: Readonly<Record<'text' | 'bytes' | 'integer', string>>
  /** Returns the milliseconds until a column's time. Negative if it has passed. */
  readonly msUntil: (column: string) => string
  /** Returns an expression that selects bytes as a Buffer or as a hexadecimal string. */
  readonly bytesIn: (column: string) => string
  /**
   * Inserts a row unless its key exists.
   *
   * @param row - the part after INSERT.
   */
  readonly insertNew: (row: string) => string
  /**
   * Updates integer columns of rows, identified by the key column. Its one `?` is a JSON list of objects with
   * a member for each column. Locks no other rows.
   */
  readonly updateRows: (table: string, key: NumberKey, columns: readonly string[]) => string
  /** Notifies the listeners of a channel; undefined if the engine has no channels. */
  readonly notify: ((channel: string) => string) | undefined
  /** Replaces `?` with the placeholders of this dialect. */
  readonly numbered: (text: string) => string
}
