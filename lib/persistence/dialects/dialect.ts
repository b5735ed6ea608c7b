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

/** `mysql` is MySQL 8, `mariadb` MariaDB through the MySQL driver; their capabilities differ. */
export type DialectName = 'postgres' | 'mysql' | 'mariadb' | 'sqlite'

/** The capabilities of an engine. Callers check these, and never the name. */
export interface Capabilities {
  /** A value can be an array, so that many values are one parameter. */
  readonly arrays: boolean
  /**
   * A write can return the row it wrote. MariaDB can for INSERT only and MySQL never, so neither is relied
   * on.
   */
  readonly returning: boolean
  /** Tables may be spread over several servers, by an extension. */
  readonly distribution: boolean
  /** One statement can write many rows with values of their own, from arrays. */
  readonly setWrites: boolean
  /** A statement that writes can begin with WITH, and so lock the rows that it refers to. */
  readonly writeWith: boolean
  /** A joined query can use the rows before it. MariaDB's cannot. */
  readonly lateral: boolean
  /** `(a, b) > (1, 2)` uses an index. */
  readonly rowComparison: boolean
  /** An index can have a condition. If not, the column `soft_delete_key` replaces it. */
  readonly partialIndexes: boolean
  /** UPDATE and DELETE have a LIMIT, and cannot read from their own table. */
  readonly limitedDelete: boolean
  /** CREATE INDEX has IF NOT EXISTS. */
  readonly indexIfMissing: boolean
  /** A DDL statement can be rolled back. If not, a migration's table is one statement with its keys. */
  readonly transactionalDdl: boolean
  /** After a failed statement a transaction takes no other until it is rolled back to a savepoint. */
  readonly failureBlocksTransaction: boolean
  /** An index has NULLs where a list has them, so that it can give the order of a nullable column. */
  readonly nullsInOrder: boolean
  /** Rows that an index has in the order of the first terms are sorted by the other terms alone. */
  readonly sortsInPart: boolean
  /** Has text search of its own; elsewhere a search is for a substring. */
  readonly fullText: boolean
  /** An infinity can be bound as a number. */
  readonly infinities: boolean
}

/** The properties of a driver's error that show the state of the transaction. */
export interface DriverCodes {
  readonly code?: unknown
  readonly errno?: unknown
  readonly fatal?: unknown
}

/** The SQL of generated integer keys. */
export interface IdentitySql {
  /** The clause after a column's type in CREATE TABLE. */
  readonly column: string
  /** True if that makes the column the primary key, so that the table says so nowhere else. */
  readonly isPrimaryKey: boolean
  /** True if numbers end in its column where the kind does, and go no further. */
  readonly endsWithKind: (kind: KindName) => boolean
  /**
   * A column in arithmetic of 64 bits that fails beyond their range, for what an INSERT returns; undefined
   * where it rounds, or where nothing is returned.
   */
  readonly in64Bits: ((column: string) => string) | undefined
  /** The clause after the table's name if a new row has no other column. */
  readonly alone: string
  /** The statements that make an existing column generate numbers, starting after its rows' numbers. */
  readonly added: (table: TableName, column: ColumnDefinition) => string
  /** The number that the connection generated last; undefined if an INSERT returns the row. */
  readonly last: string | undefined
}

/** The options of a new transaction. */
export interface BeginOptions {
  readonly isolation?: Isolation
  readonly readOnly?: boolean
}

/**
 * Everything in which database engines differ, one object per engine. Functions that are the same for all
 * take the object. A text is SQL unless its comment says otherwise.
 */
export interface Dialect {
  readonly name: DialectName
  /** The engine's name, for messages. */
  readonly label: string
  readonly can: Capabilities
  readonly text: TextDialect
  readonly values: ValuesDialect
  readonly transactions: TransactionsDialect
  readonly ddl: DdlDialect
  readonly catalog: CatalogDialect
  readonly stores: StoreSql
}

/** The SQL of names, strings and their comparison. */
export interface TextDialect {
  /** A name as an identifier. */
  readonly quote: (name: string) => string
  /** A string literal. The text comes from a declaration, never from a caller. */
  readonly literal: (text: string) => string
  /** Concatenates at least two strings. */
  readonly concat: (parts: readonly string[]) => string
  /** True if a text contains another, case counting. Writes the two in the order of their parameters. */
  readonly contains: (text: () => string, needle: () => string) => string
  /** True if a text contains a search term, case not counting; undefined with full-text search. */
  readonly containsTerm: ((text: string) => string) | undefined
  /**
   * Finds the words of a text, and beside them what holds no words: quoted text, quoted names, comments, and
   * semicolons.
   */
  readonly tokens: RegExp
  /** Of text: order and equality by code point, trailing spaces counting. */
  readonly collation: string
  /** The same of one column of text; as it is where its own collation compares so. */
  readonly exactly: (column: string, collation: string) => string
}

/** The SQL for binding, storing, comparing and reading values, and lists of them. */
export interface ValuesDialect {
  /** The SQL of each kind of column. */
  readonly kinds: KindsSql
  /** Stands for a number of rows, which every driver takes as it is. */
  readonly countPlaceholder: (index: number) => string
  /** The number of values one statement takes. */
  readonly maxValues: number
  /** Undefined where all rows cannot be one text. */
  readonly gathered: Gathered | undefined
  /** The number of bytes the value of a column has; NULL where it is NULL. */
  readonly byteLength: (column: string, kind: KindName) => string
  /** True if the rows of a page are gathered: with its relations, or alone. */
  readonly gathersPage: (fields: readonly Field[], isAlone: boolean) => boolean
  /**
   * Lets statements of one round trip use what the first of them reads. Undefined where the engine cannot.
   */
  readonly handOver: HandOver | undefined
  /** A term of ORDER BY whose column can be NULL: last ascending, first descending. */
  readonly orderNullable: (column: string, direction: Direction) => string
  /** The later of the time in a column and a value, which is used where the column has none. */
  readonly later: (column: string, value: string) => string
  readonly json: JsonSql
  readonly tags: TagSql
  /** Undefined where each call has a statement of its own. */
  readonly coalescing: CoalescingSql | undefined
}

/** The SQL for beginning and ending transactions, and for locking rows. */
export interface TransactionsDialect {
  /** The words of a statement that begins or ends a transaction or a savepoint. */
  readonly control: RegExp
  /** Begins a transaction, a statement each. */
  readonly begin: (options: BeginOptions) => readonly string[]
  /**
   * Locks the rows of a SELECT; empty where a transaction that writes is alone anyway. An engine that cannot
   * lock so throws a TypeError that names itself and the lock.
   */
  readonly rowLock: (clause: LockClause) => string
  /**
   * Selects true where the running transaction goes on seeing what it saw first, so that what others have
   * committed since is missed even by a read that locks. Undefined where such a read always finds the newest
   * rows.
   */
  readonly isSnapshotFixed: string | undefined
  /**
   * Selects true where a read that locks has made the snapshot of a transaction in repeatable read before it
   * waited for the lock. Undefined where only a read without a lock makes the snapshot.
   */
  readonly lockBeginsSnapshot: string | undefined
  /**
   * Checks rules that the engine otherwise checks at COMMIT: a statement that fails if one is violated, or
   * one that selects how many violations there are. Undefined if the engine defers no rule.
   */
  readonly deferredRules:
    { readonly check: string; readonly count?: never } | { readonly count: string } | undefined
  /** True if the engine may have ended the transaction by itself because of this error. */
  readonly endsTransaction: (error: DriverCodes) => boolean
  /** True if only the connection can tell that the transaction was rolled back. */
  readonly mayRollBack: (error: DriverCodes) => boolean
}

/** Indexes other than B-trees. */
export interface IndexMethods {
  /** The catalog's name for a declared type of index; undefined if TypeORM makes a plain one here. */
  readonly of: (declared: string) => string | undefined
  /** True if it stands before the word INDEX: `FULLTEXT INDEX`. Otherwise `USING gin` before the columns. */
  readonly isFirst: boolean
}

/** The SQL for creating tables, columns and generated keys. */
export interface DdlDialect {
  readonly indexMethods: IndexMethods
  /** Columns that only TypeORM knows. */
  readonly typeormColumns: TypeormColumnsSql
  readonly identity: IdentitySql
  /** The clause after the parentheses of CREATE TABLE. */
  readonly tableOptions: string
  /**
   * Follows `tableOptions` in a migration, whose columns then name no collation. Empty where columns name
   * theirs.
   */
  readonly tableCollation: string
  /** The default of a column whose UUID TypeORM leaves to the database; undefined if TypeORM generates it. */
  readonly generatedUuid?: string
  /** The default of a column that holds the time at which a row is created. */
  readonly now: string
  /**
   * Adds the columns that an older table lacks, and drops the indexes that are now declared differently;
   * undefined where migrations do. `indexes` are the statements that then make them.
   */
  readonly updateTable:
    ((query: Query, table: TableDefinition, indexes: readonly string[]) => Promise<void>) | undefined
  /** The keys of a table that the engine refuses to make, one text each with what to do. */
  readonly refusedKeys: (table: TableDefinition) => readonly string[]
  /** Undefined without migrations, so that tables are created at run time. */
  readonly migration: MigrationSql | undefined
}

/** The queries about a database's tables. */
export interface CatalogDialect {
  /**
   * Selects a row if a trigger or a rule of a table may leave a write out without an error. Value: the quoted
   * table. Undefined if none can.
   */
  readonly suppressingTriggers: string | undefined
  /** The namespace of tables; undefined if the connection determines it. */
  readonly namespace: Namespace | undefined
  /** Finds a table's foreign keys; undefined if a table has them from its creation or never. */
  readonly foreignKeys: ForeignKeySql | undefined
  /**
   * Selects the columns of a table without a foreign key as `name`, where none can be added; the table is
   * both values.
   */
  readonly columnsWithoutForeignKey: string | undefined
  /**
   * Selects as `name` the columns of a table that hold times without a zone, which TypeORM's own manager
   * reads and writes in the zone of the process; the value is the quoted table. Undefined where no type of a
   * column decides it.
   */
  readonly timesWithoutZone: string | undefined
  /**
   * Selects as `name` the columns of a table whose times have no milliseconds; undefined if every column
   * keeps them.
   */
  readonly timesWithoutMillis: ForeignKeySql['find'] | undefined
  /** Selects a setting of the connection if floats that it writes are rounded. Undefined if none are. */
  readonly roundedFloats: string | undefined
  readonly inexactColumns: InexactColumns
  /** Undefined where no live schema is compared. */
  readonly live: Catalog | undefined
  /** The dialect of the server behind a connection of this dialect's driver. */
  readonly identify: (live: LiveSchema) => Promise<Dialect>
}

export interface ForeignKeySql {
  /** True if the columns on both sides need one collation. */
  readonly needsOneCollation: boolean
  /** Selects their names as `name`. */
  readonly find: (table: TableName) => { readonly text: string; readonly values: readonly unknown[] }
}

/** A column of whole numbers that no two rows share, and which rows are meant. */
export interface NumberKey {
  readonly column: string
  /** The unique index on it, where that is a name. */
  readonly index: string
  /** Only the rows in which this column is NULL, for which PostgreSQL has a partial index. */
  readonly whileNull: string
}

/** The SQL of the server's own stores. Time is the database's own, because the clocks of processes differ. */
export interface StoreSql {
  /** Now, as the tables keep it. */
  readonly now: string
  /** That many milliseconds from now; holds one `?`. */
  readonly later: string
  /** A `?` that may be NULL where the place does not say its type. */
  readonly bound: Readonly<Record<'text' | 'bytes' | 'integer', string>>
  /** The number of milliseconds it is until the time in a column; negative for one that has passed. */
  readonly msUntil: (column: string) => string
  /** Selects bytes as a Buffer, or as hexadecimal text. */
  readonly bytesIn: (column: string) => string
  /** Inserts nothing, without an error, when the key is there already. @param row - what follows INSERT. */
  readonly insertNew: (row: string) => string
  /**
   * Sets whole numbers in the rows with these numbers in the column of the key. Its one `?` is a JSON list
   * with an object for each row, which has a member for each column. Locks no row beside them.
   */
  readonly updateRows: (table: string, key: NumberKey, columns: readonly string[]) => string
  /** Notifies the listeners of a channel; undefined if the engine has no channels. */
  readonly notify: ((channel: string) => string) | undefined
  /** A text whose values are `?` with the placeholders of this dialect. */
  readonly numbered: (text: string) => string
}
