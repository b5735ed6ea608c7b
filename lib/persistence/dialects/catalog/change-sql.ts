import type { LiveColumn, LiveForeignKey, LiveIndex } from './live-table.js'
import type {
  ColumnDefinition,
  ForeignKeyDefinition,
  IndexDefinition,
  TableName,
} from './table-definition.js'

/** Lint rules that a file violates intentionally, with the reason. */
export interface Allowance {
  readonly rules: readonly string[]
  readonly reason: string
}

/** The up and down migration of one change of a table. */
export interface ChangeFile {
  /** A description for the file name, such as `index_orders_code`. */
  readonly what: string
  readonly up: readonly string[]
  readonly down: readonly string[]
  readonly allow?: Allowance
  /** The allowance for the down migration. */
  readonly allowDown?: Allowance
  /** Comments that make `migrate lint` accept intended properties. Each ends with a newline. */
  readonly comments?: string
  /** True if its only statement runs in chunks: `-- ashlar:backfill`. */
  readonly isBackfill?: true
  /**
   * True if it changes objects that the files of `search generate` create. It is then numbered in their
   * range.
   */
  readonly isSearch?: true
}

/** The clauses after ALTER TABLE, for the up and the down migration. */
export interface Alteration {
  readonly up: string
  readonly down: string
}

/** A change of a column from the database's definition to the model's. */
export interface ColumnChange {
  readonly table: TableName
  readonly column: ColumnDefinition
  readonly live: LiveColumn
}

/**
 * Generates the statements that change a table in use. If the engine can, they do not read or copy every row
 * under a lock.
 */
export interface ChangeSql {
  /** Combines changes of the catalog into one statement. */
  readonly alter: (
    table: TableName,
    what: string,
    alterations: readonly Alteration[],
  ) => readonly ChangeFile[]
  /** Returns a column definition for ADD COLUMN that every server version of the engine accepts. */
  readonly columnText: (column: ColumnDefinition) => string
  /** Returns the definition of a database's column in the form of `columnText`. */
  readonly liveText: (column: LiveColumn) => string
  /**
   * Returns true if a column of the type can be added with a constant default without copying the table, on
   * every server version of the engine.
   */
  readonly takesDefault: (type: string) => boolean
  /** Returns a default in the form that SET DEFAULT requires. */
  readonly defaultOf: (type: string, value: string) => string
  /** Returns the value of a row that omits a column of the type, or undefined if there is none. */
  readonly emptyValue: (type: string) => string | undefined
  /** Returns an expression that generates a different string for each row. */
  readonly ownValue: (type: string) => string | undefined
  /** Returns true if an index can contain a whole column of the type. */
  readonly takesIndex: (type: string) => boolean
  readonly addIndex: (table: TableName, index: IndexDefinition) => readonly ChangeFile[]
  /**
   * Drops an index.
   *
   * @param index - an index of plain columns.
   */
  readonly dropIndex: (table: TableName, index: LiveIndex) => readonly ChangeFile[]
  /** True if a foreign key can be added without a lock on every row. */
  readonly addsForeignKeysInUse: boolean
  readonly addForeignKey: (table: TableName, key: ForeignKeyDefinition) => readonly ChangeFile[]
  readonly dropForeignKey: (table: TableName, key: LiveForeignKey) => readonly ChangeFile[]
  /**
   * Makes a column NOT NULL.
   *
   * @param name - the name of the temporary constraint that proves that no row is NULL.
   */
  readonly require: (change: ColumnChange, name: string) => readonly ChangeFile[]
  readonly takeNull: (change: ColumnChange) => readonly ChangeFile[]
  readonly retype: (change: ColumnChange) => readonly ChangeFile[]
  /**
   * Creates triggers that keep two columns equal: writing one of them sets the other.
   *
   * @param name - the name of the triggers.
   */
  readonly mirror: (table: TableName, name: string, columns: Renamed) => readonly ChangeFile[]
  /**
   * Drops these triggers.
   *
   * @param realign - the statement that the down migration runs after all triggers exist again, because one
   *   of the columns may
   * have changed meanwhile.
   */
  readonly unmirror: (
    table: TableName,
    name: string,
    columns: Renamed,
    realign: string,
  ) => readonly ChangeFile[]
  /** Returns a condition that matches rows whose two columns are not identical. */
  readonly differ: (columns: Renamed, isText: boolean) => string
  /**
   * Drops a generated column if it exists and reads another one. The column that it reads can then be
   * dropped.
   */
  readonly dropReader: (table: TableName, reader: Reader) => readonly string[]
  /**
   * Fills rows in chunks.
   *
   * @param where - excludes rows that need no change.
   */
  readonly backfill: (table: TableName, set: string, where: string) => readonly ChangeFile[]
}

/** A column that the database computes, and the column that it reads. */
export interface Reader {
  readonly generated: string
  readonly reads: string
}

/** The old and the new name of a column. */
export interface Renamed {
  readonly from: string
  readonly to: string
}
