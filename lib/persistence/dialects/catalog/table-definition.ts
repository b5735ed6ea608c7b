/** A table as statements name it. */
export interface TableName {
  /** PostgreSQL's schema, MySQL's database; undefined for the one in which the connection looks. */
  readonly schema: string | undefined
  readonly name: string
}

/** One column as its dialect declares it. */
export interface ColumnDefinition {
  readonly name: string
  /** Without its collation. */
  readonly type: string
  /** The type in the words of the catalog. */
  readonly catalogType: string
  /** True if it holds text, which is ordered and compared by code point. */
  readonly isText: boolean
  readonly nullable: boolean
  readonly fallback: string | undefined
  /** The expression after GENERATED ALWAYS; undefined for a column that is written. */
  readonly generated?: string | undefined
  /** The value for rows of other writers that omit the column; the repository writes its own. */
  readonly initial?: string | undefined
  /**
   * The value of a new required column in existing rows, and in rows of older images that omit it; a
   * constant.
   */
  readonly filler?: string | undefined
  /** The name that the column had before. */
  readonly renamedFrom?: string | undefined
  /** True if an application declares `initial` in SQL: a comparison asks whether there is a default. */
  readonly hasOwnDefault?: true
  /** True if only TypeORM knows what it is: a comparison asks whether it is there. */
  readonly isInternal?: true
  /** True for a primary key that is an identity or auto-increment column. */
  readonly isIdentity?: true
}

export interface IndexDefinition {
  readonly name: string
  readonly columns: readonly string[]
  readonly unique: boolean
  /** Condition of a partial index, on dialects that have them. */
  readonly where: string | undefined
  /** True if an application declares the condition: a comparison asks whether there is one. */
  readonly hasOwnWhere?: true
  /** The index type as the catalog names it; a B-tree by default. */
  readonly method?: string
  /** MySQL's parser of a full-text index. */
  readonly parser?: string
}

/** A reference to the rows of a table. A row that is referred to cannot go. */
export interface ForeignKeyDefinition {
  readonly name: string
  readonly columns: readonly string[]
  readonly target: TableName
  readonly targetColumns: readonly string[]
}

/** A table as isolation, uniqueness and order need it. */
export interface TableDefinition extends TableName {
  /** The column that holds the tenant of a row; undefined where rows belong to none. */
  readonly tenant?: string | undefined
  readonly columns: readonly ColumnDefinition[]
  readonly primaryKey: readonly string[]
  readonly indexes: readonly IndexDefinition[]
  /** Indexes that are created elsewhere: they are left as they are. */
  readonly leftIndexes?: readonly { readonly name: string | undefined; readonly columns: readonly string[] }[]
  readonly foreignKeys: readonly ForeignKeyDefinition[]
  /** Columns of which a row sets at most one. A new table checks it. */
  readonly exclusive?: readonly ExclusiveColumns[]
}

export interface ExclusiveColumns {
  /** Of the CHECK. */
  readonly name: string
  readonly columns: readonly string[]
}

/** Runs a statement of this engine and returns its rows by position. */
export type Query = (text: string, values: readonly unknown[]) => Promise<readonly (readonly unknown[])[]>
