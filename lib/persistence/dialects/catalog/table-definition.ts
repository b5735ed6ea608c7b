/** The qualified name of a table. @inline */
export interface TableName {
  /** The schema in PostgreSQL or the database in MySQL. Undefined for the connection's default. */
  readonly schema: string | undefined
  readonly name: string
}

/** A column as its dialect declares it. */
export interface ColumnDefinition {
  readonly name: string
  /** The type without its collation. */
  readonly type: string
  /** The type as the catalog names it. */
  readonly catalogType: string
  /** True for a string column, which is compared and ordered by code point. */
  readonly isText: boolean
  readonly nullable: boolean
  readonly fallback: string | undefined
  /** The expression after GENERATED ALWAYS. Undefined if the column is written. */
  readonly generated?: string | undefined
  /** The default for other writers that omit the column. Repositories always write a value. */
  readonly initial?: string | undefined
  /** A constant for a new required column, used in existing rows and in rows of older images that omit it. */
  readonly filler?: string | undefined
  /** The old name of a renamed column. */
  readonly renamedFrom?: string | undefined
  /** True if the application declares `initial` as SQL. A comparison only checks that a default exists. */
  readonly hasOwnDefault?: true
  /** True if only TypeORM knows the definition. A comparison only checks that the column exists. */
  readonly isInternal?: true
  /** True for a primary key that is an identity or auto-increment column. */
  readonly isIdentity?: true
}

export interface IndexDefinition {
  readonly name: string
  readonly columns: readonly string[]
  readonly unique: boolean
  /** The condition of a partial index, if the engine has them. */
  readonly where: string | undefined
  /** True if the application declares the condition. A comparison only checks that one exists. */
  readonly hasOwnWhere?: true
  /** The index type as the catalog names it. Default: B-tree. */
  readonly method?: string
  /** The parser of a full-text index in MySQL. */
  readonly parser?: string
}

/** A foreign key. Rows that it refers to cannot be removed. */
export interface ForeignKeyDefinition {
  readonly name: string
  readonly columns: readonly string[]
  readonly target: TableName
  readonly targetColumns: readonly string[]
}

/** The definition of a table, limited to the properties that isolation, uniqueness and sort order require. */
export interface TableDefinition extends TableName {
  /** The tenant column. Undefined if rows have no tenant. */
  readonly tenant?: string | undefined
  readonly columns: readonly ColumnDefinition[]
  readonly primaryKey: readonly string[]
  readonly indexes: readonly IndexDefinition[]
  /** Indexes that other tools manage. Ashlar does not change them. */
  readonly leftIndexes?: readonly { readonly name: string | undefined; readonly columns: readonly string[] }[]
  readonly foreignKeys: readonly ForeignKeyDefinition[]
  /** Groups of columns of which a row sets at most one. A new table has a check for each. */
  readonly exclusive?: readonly ExclusiveColumns[]
}

export interface ExclusiveColumns {
  /** The name of the CHECK constraint. */
  readonly name: string
  readonly columns: readonly string[]
}

/** Runs a statement of this engine. Returns its rows as arrays. */
export type Query = (text: string, values: readonly unknown[]) => Promise<readonly (readonly unknown[])[]>
