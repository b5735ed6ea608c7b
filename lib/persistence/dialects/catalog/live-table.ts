import type { ChangeSql } from './change-sql.js'
import type { TableName } from './table-definition.js'

/** A row of a catalog, by column name. */
export type CatalogRow = Readonly<Record<string, unknown>>

/** A database whose catalog can be read. `?` in a query is a placeholder. */
export interface LiveSchema {
  readonly dialect: 'postgres' | 'mysql'
  /** The schema of the tables on PostgreSQL. Empty on MySQL, where they are in the connection's database. */
  readonly schema: string
  /** True if a table is only looked up in `schema`. Otherwise the connection's search path applies. */
  readonly isSchemaNamed?: boolean
  /** Runs a query against the catalog. */
  rows(text: string, values?: readonly unknown[]): Promise<readonly CatalogRow[]>
}

/** A column of a database, described like a `ColumnDefinition`. */
export interface LiveColumn {
  readonly name: string
  /** The type as the catalog names it. */
  readonly type: string
  /** The underlying type of a domain. */
  readonly baseType?: string
  /** The collation of a string column. */
  readonly collation: string | undefined
  readonly nullable: boolean
  /** The default: a constant in the format of {@link Catalog.defaultText}, or the catalog's expression. */
  readonly fallback: string | undefined
  /** True if the catalog shows only a part of the default. */
  readonly isFallbackCut?: boolean
  /** The expression of a generated column. Empty if the database generates values without an expression. */
  readonly generated: string | undefined
  /** True if the database generates the number of a new row: identity, sequence or AUTO_INCREMENT. */
  readonly isIdentity?: boolean
  /**
   * The rest of the column definition, which a statement that redefines the column must repeat: generation,
   * ON UPDATE, CHECK, INVISIBLE and COMMENT.
   */
  readonly rest?: string
  /** A default of the database that no migration sets. */
  readonly ownFallback?: string
}

export interface LiveIndex extends IndexShape {
  readonly name: string
  /** True if the index belongs to a constraint and is dropped with it. */
  readonly isConstraint: boolean
  /** True if the index remains from a failed build. Queries do not use it. */
  readonly isInvalid?: boolean
}

export interface LiveForeignKey extends ForeignKeyShape {
  readonly name: string
}

export interface LiveCheck {
  readonly name: string
  /** True if all rows were validated. */
  readonly isValid: boolean
  /** The columns in its condition. */
  readonly columns: readonly string[]
  /** The definition after `CONSTRAINT name`, such as `CHECK (size > 0)`. */
  readonly definition: string
}

/** A table of a database. */
export interface LiveTable {
  readonly columns: readonly LiveColumn[]
  readonly primaryKey: readonly string[]
  /** The indexes, without the primary key's. */
  readonly indexes: readonly LiveIndex[]
  readonly foreignKeys: readonly LiveForeignKey[]
  /** The declared checks. Checks that an engine adds for a type are not included. */
  readonly checks: readonly LiveCheck[]
  readonly triggers: readonly string[]
  /** Problems of the whole table, with advice. */
  readonly faults: readonly string[]
}

/** The properties of an index that are compared. */
export interface IndexShape {
  readonly unique: boolean
  readonly columns: readonly string[]
  /** The index type. Undefined for the default type. */
  readonly method?: string | undefined
  readonly where?: string | undefined
  /** Further properties that distinguish indexes on the same columns, such as DEFERRABLE. */
  readonly extras?: readonly string[]
}

/**
 * Returns the shape of an index. Two indexes of the same shape serve the same queries and reject the same
 * rows.
 */
export function shapeOf({ unique, columns, method, where, extras = [] }: IndexShape): string {
  return [
    ...(unique ? ['UNIQUE'] : []),
    ...(method === undefined ? [] : [`USING ${method}`]),
    `(${columns.join(', ')})`,
    ...extras,
    ...(where === undefined ? [] : [`WHERE ${bare(where)}`]),
  ].join(' ')
}

/** The properties of a foreign key that are compared. */
export interface ForeignKeyShape {
  readonly columns: readonly string[]
  /** The target as `schema.table`, or without the schema if it is the migrations' schema. */
  readonly target: string
  readonly targetColumns: readonly string[]
  /** The action, if it is not NO ACTION. */
  readonly onDelete?: string | undefined
  readonly onUpdate?: string | undefined
  /** True if existing rows were never validated: NOT VALID. */
  readonly isUnchecked?: boolean
  /** Further properties, such as DEFERRABLE. */
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

/** Removes the quotes and outer parentheses that a catalog may add to a condition. */
const bare = (condition: string): string => condition.replaceAll(/["`]/g, '').replace(/^\((.*)\)$/s, '$1')

/** Reads the catalog of a database and generates the statements that remove differences. */
export interface Catalog {
  /** Returns a table, or undefined if it does not exist. */
  readonly readTable: (live: LiveSchema, table: TableName) => Promise<LiveTable | undefined>
  /**
   * Normalizes a default of a CREATE TABLE statement or a catalog to the format of {@link LiveColumn}. Equal
   * defaults of a column type have equal strings.
   *
   * @param type - the type as the catalog names it.
   */
  readonly defaultText: (text: string, type: string) => string
  /** Returns true if the column has the default, as far as the catalog shows it. */
  readonly hasDefault: (live: LiveColumn, wanted: string) => boolean
  /**
   * Collations that compare by code point, including case and trailing spaces. The first one is used for new
   * columns.
   */
  readonly exactCollations: readonly string[]
  readonly changes: ChangeSql
}

/** The qualifier of table names, and the query that checks whether it exists. The query has one parameter. */
export interface Namespace {
  readonly kind: 'schema' | 'database'
  readonly find: string
  /**
   * Selects the qualifier of an unqualified table; the parameter is its quoted name. Undefined if the
   * connection only looks in one place.
   */
  readonly ofTable: string | undefined
}
