import type { LiveColumn, LiveForeignKey, LiveIndex } from './live-table.js'
import type {
  ColumnDefinition,
  ForeignKeyDefinition,
  IndexDefinition,
  TableName,
} from './table-definition.js'

/** Rules of lint that a file breaks on purpose, and why it may. */
export interface Allowance {
  readonly rules: readonly string[]
  readonly reason: string
}

/** The two ways of one version that changes a table. */
export interface ChangeFile {
  /** In words for the name of a file, such as `index_orders_code`. */
  readonly what: string
  readonly up: readonly string[]
  readonly down: readonly string[]
  readonly allow?: Allowance
  /** In the down migration. */
  readonly allowDown?: Allowance
  /** Comments for lint about what is as it is on purpose; each ends its line. */
  readonly comments?: string
  /** Its only statement runs in chunks: `-- ashlar:backfill`. */
  readonly isBackfill?: true
  /** It changes what files of `search generate` make, and has the next of their numbers. */
  readonly isSearch?: true
}

/** Text after ALTER TABLE, both ways. */
export interface Alteration {
  readonly up: string
  readonly down: string
}

/** The change of a column from the database's definition to the model's. */
export interface ColumnChange {
  readonly table: TableName
  readonly column: ColumnDefinition
  readonly live: LiveColumn
}

/**
 * The statements that change a table while it is in use: those that an engine carries out without reading or
 * copying every row under a lock, wherever it has them.
 */
export interface ChangeSql {
  /** Adds what needs only the catalog, in one statement. */
  readonly alter: (
    table: TableName,
    what: string,
    alterations: readonly Alteration[],
  ) => readonly ChangeFile[]
  /** A column as ADD COLUMN has it in a file for every server of the engine. */
  readonly columnText: (column: ColumnDefinition) => string
  /** The same, of a column of a database. */
  readonly liveText: (column: LiveColumn) => string
  /**
   * True if a column of that type can be added with a constant default without a copy, on every server of the
   * engine.
   */
  readonly takesDefault: (type: string) => boolean
  /** SET DEFAULT needs it in this form. */
  readonly defaultOf: (type: string, value: string) => string
  /** The value of a column in a row that omits it; undefined if there is none. */
  readonly emptyValue: (type: string) => string | undefined
  /** An expression that gives each row a text of its own. */
  readonly ownValue: (type: string) => string | undefined
  /** True if an index can hold a whole column of that type. */
  readonly takesIndex: (type: string) => boolean
  readonly addIndex: (table: TableName, index: IndexDefinition) => readonly ChangeFile[]
  /** @param index - of plain columns. */
  readonly dropIndex: (table: TableName, index: LiveIndex) => readonly ChangeFile[]
  /** True if a foreign key is added without a lock on every row. */
  readonly addsForeignKeysInUse: boolean
  readonly addForeignKey: (table: TableName, key: ForeignKeyDefinition) => readonly ChangeFile[]
  readonly dropForeignKey: (table: TableName, key: LiveForeignKey) => readonly ChangeFile[]
  /** NOT NULL. @param name - of the constraint that proves it meanwhile. */
  readonly require: (change: ColumnChange, name: string) => readonly ChangeFile[]
  readonly takeNull: (change: ColumnChange) => readonly ChangeFile[]
  readonly retype: (change: ColumnChange) => readonly ChangeFile[]
  /** Keeps two columns equal: a write of one of them sets the other. @param name - of the triggers. */
  readonly mirror: (table: TableName, name: string, columns: Renamed) => readonly ChangeFile[]
  /**
   * Ends that. @param realign - the statement that the down migration runs when all triggers exist again,
   * because one of the two columns may have been written meanwhile.
   */
  readonly unmirror: (
    table: TableName,
    name: string,
    columns: Renamed,
    realign: string,
  ) => readonly ChangeFile[]
  /** A condition that takes the rows whose two columns do not hold the very same. */
  readonly differ: (columns: Renamed, isText: boolean) => string
  /**
   * Drops a generated column, where it is there and reads another one: that one could not be dropped before.
   */
  readonly dropReader: (table: TableName, reader: Reader) => readonly string[]
  /** Fills rows in chunks. @param where - leaves out the rows that need nothing. */
  readonly backfill: (table: TableName, set: string, where: string) => readonly ChangeFile[]
}

/** A column that the database computes, and one that it reads. */
export interface Reader {
  readonly generated: string
  readonly reads: string
}

/** The two names of a column. */
export interface Renamed {
  readonly from: string
  readonly to: string
}
