import type { ChangeSql } from './change-sql.js'
import type { TableName } from './table-definition.js'

/** A row of a catalog, by the names of its columns. */
export type CatalogRow = Readonly<Record<string, unknown>>

/** A database whose catalogs can be read. `?` in the text stands for a value. */
export interface LiveSchema {
  readonly dialect: 'postgres' | 'mysql'
  /** The schema of the tables on PostgreSQL; empty on MySQL, where they are in the connection's database. */
  readonly schema: string
  /**
   * True if a table is looked for in `schema` alone. Else it is where the connection finds it, as its search
   * path says.
   */
  readonly isSchemaNamed?: boolean
  /** Runs a query against the catalog. */
  rows(text: string, values?: readonly unknown[]): Promise<readonly CatalogRow[]>
}

/** A column as it is in a database, described like a `ColumnDefinition`. */
export interface LiveColumn {
  readonly name: string
  /** In the words of the catalog. */
  readonly type: string
  /** The type below, if the type is a domain. */
  readonly baseType?: string
  /** Of text only. */
  readonly collation: string | undefined
  readonly nullable: boolean
  /** A constant as {@link Catalog.defaultText} writes it, or the catalog's expression. */
  readonly fallback: string | undefined
  /** The catalog shows less of it than it is. */
  readonly isFallbackCut?: boolean
  /** The expression from which the database generates its values; empty if it has no expression. */
  readonly generated: string | undefined
  /** True if the database generates the number of a row that has none: identity, sequence, AUTO_INCREMENT. */
  readonly isIdentity?: boolean
  /**
   * The rest of its definition, as a statement repeats it that has to write the whole column: how it is
   * generated, ON UPDATE, CHECK, INVISIBLE, COMMENT.
   */
  readonly rest?: string
  /** A default that the database has and its migrations do not set. */
  readonly ownFallback?: string
}

export interface LiveIndex extends IndexShape {
  readonly name: string
  /** It belongs to a constraint, with which it goes. */
  readonly isConstraint: boolean
  /** True for the remains of a failed build, which no query uses. */
  readonly isInvalid?: boolean
}

export interface LiveForeignKey extends ForeignKeyShape {
  readonly name: string
}

export interface LiveCheck {
  readonly name: string
  /** True if every row was checked. */
  readonly isValid: boolean
  /** The columns that it reads. */
  readonly columns: readonly string[]
  /** The text after `CONSTRAINT name`, such as `CHECK (size > 0)`. */
  readonly definition: string
}

/** A table as it is in a database. */
export interface LiveTable {
  readonly columns: readonly LiveColumn[]
  readonly primaryKey: readonly string[]
  /** Without the index of the primary key. */
  readonly indexes: readonly LiveIndex[]
  readonly foreignKeys: readonly LiveForeignKey[]
  /** Those that are declared by name; not what an engine keeps for a type of its own. */
  readonly checks: readonly LiveCheck[]
  readonly triggers: readonly string[]
  /** The problems of the table as a whole, with their remedies. */
  readonly faults: readonly string[]
}

/** The wanted form of an index, for comparison. */
export interface IndexShape {
  readonly unique: boolean
  readonly columns: readonly string[]
  /** The plain kind when undefined. */
  readonly method?: string | undefined
  readonly where?: string | undefined
  /** Properties that distinguish it from another index with its columns, such as DEFERRABLE. */
  readonly extras?: readonly string[]
}

/** Two indexes of one shape serve the same statements and refuse the same rows. */
export function shapeOf({ unique, columns, method, where, extras = [] }: IndexShape): string {
  return [
    ...(unique ? ['UNIQUE'] : []),
    ...(method === undefined ? [] : [`USING ${method}`]),
    `(${columns.join(', ')})`,
    ...extras,
    ...(where === undefined ? [] : [`WHERE ${bare(where)}`]),
  ].join(' ')
}

/** The wanted form of a foreign key, for comparison. */
export interface ForeignKeyShape {
  readonly columns: readonly string[]
  /** `schema.table`, without the schema that the migrations run in. */
  readonly target: string
  readonly targetColumns: readonly string[]
  /** Otherwise than NO ACTION. */
  readonly onDelete?: string | undefined
  readonly onUpdate?: string | undefined
  /** True if existing rows were never checked: NOT VALID. */
  readonly isUnchecked?: boolean
  /** Such as DEFERRABLE. */
  readonly extras?: readonly string[]
}

export const foreignKeyShape = ({
  columns,
  target,
  targetColumns,
  onDelete,
  onUpdate,
  isUnchecked,
  extras = [],
}: ForeignKeyShape): string =>
  [
    `(${columns.join(', ')}) → ${target} (${targetColumns.join(', ')})`,
    ...(onDelete === undefined ? [] : [`ON DELETE ${onDelete}`]),
    ...(onUpdate === undefined ? [] : [`ON UPDATE ${onUpdate}`]),
    ...(isUnchecked === true ? ['NOT VALID'] : []),
    ...extras,
  ].join(' ')

/** A condition without the quotes and the outer parentheses that a catalog adds or leaves out. */
const bare = (condition: string): string => condition.replaceAll(/["`]/g, '').replace(/^\((.*)\)$/s, '$1')

/** Reads the catalog of a live database, and writes the statements that remove differences. */
export interface Catalog {
  /** Undefined if the table does not exist. */
  readonly readTable: (live: LiveSchema, table: TableName) => Promise<LiveTable | undefined>
  /**
   * A default as {@link LiveColumn} has it, of a text as CREATE TABLE or the catalog writes it. Two of the
   * same value in a column of the type have the same text.
   * @param type - in the words of the catalog.
   */
  readonly defaultText: (text: string, type: string) => string
  /** True if the column has that default, as far as the catalog shows it. */
  readonly hasDefault: (live: LiveColumn, wanted: string) => boolean
  /**
   * Collations that compare by code point, case and trailing spaces counting; the first is the one to use.
   */
  readonly exactCollations: readonly string[]
  readonly changes: ChangeSql
}

/** The qualifier of a table's name, and the query that checks that one exists; the query has one value. */
export interface Namespace {
  readonly kind: 'schema' | 'database'
  readonly find: string
  /**
   * Selects where the connection finds a table that is not qualified; the value is its quoted name. Undefined
   * where it looks in one place.
   */
  readonly ofTable: string | undefined
}
