import type { ColumnOptions } from 'typeorm'

/** How an engine writes columns that only TypeORM knows. */
export interface TypeormColumnsSql {
  /** How the engine keeps a computed one; undefined for as it is declared. */
  readonly computed: string | undefined
  /** The types that the engine has by the names that TypeORM takes; `Date` by its constructor's. */
  readonly types: ReadonlySet<string>
  /** A type with the length, precision or values that an entity declares. */
  readonly typed: (type: string, options: ColumnOptions) => string
  /** What stands behind a type: the collation, and what an update sets. */
  readonly attributes: (options: ColumnOptions) => string
  /** Behind the type of one whose numbers the database mints; empty where it can be no such column. */
  readonly minted: string
}
