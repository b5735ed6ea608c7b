/** A row of a catalog, by the names of its columns. */
export type CatalogRow = Readonly<Record<string, unknown>>

/** A database whose catalogs can be read. `?` in the text stands for a value. */
export interface LiveSchema {
  readonly dialect: 'postgres' | 'mysql'
  /** Where the tables are on PostgreSQL; empty on MySQL, where they are in the connection's database. */
  readonly schema: string
  rows(text: string, values?: readonly unknown[]): Promise<readonly CatalogRow[]>
}

/** A column as it is in a database, told like a `ColumnDefinition`. */
export interface LiveColumn {
  readonly name: string
  /** In the words of the catalog. */
  readonly type: string
  /** Of text only. */
  readonly collation: string | undefined
  readonly nullable: boolean
  readonly fallback: string | undefined
  /** The database makes its values, and refuses anybody else's. */
  readonly isComputed: boolean
}

export interface LiveIndex {
  readonly name: string
  readonly unique: boolean
  /** `UNIQUE (account_id, code) WHERE deleted_at IS NULL`: all that decides what the index is good for. */
  readonly shape: string
}

/** A table as it is in a database. */
export interface LiveTable {
  readonly columns: readonly LiveColumn[]
  readonly primaryKey: readonly string[]
  /** The primary key's aside. */
  readonly indexes: readonly LiveIndex[]
  /** What is wrong with the table as a whole, and what to do. */
  readonly faults: readonly string[]
}

/** What an index has to be, told for comparison. */
export interface IndexShape {
  readonly unique: boolean
  readonly columns: readonly string[]
  /** The plain kind when undefined. */
  readonly method?: string | undefined
  readonly where?: string | undefined
  /** What makes it another index than its columns say, such as DEFERRABLE. */
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

/** A condition without the quotes and the outer parentheses that a catalog adds or leaves out. */
const bare = (condition: string): string => condition.replaceAll(/["`]/g, '').replace(/^\((.*)\)$/s, '$1')
