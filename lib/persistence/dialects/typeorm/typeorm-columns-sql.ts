import type { ColumnOptions } from 'typeorm'

/** The SQL of columns that only TypeORM knows. */
export interface TypeormColumnsSql {
  /** The storage of a computed column; undefined for the declared one. */
  readonly computed: string | undefined
  /** The types that the engine has by the names that TypeORM takes; `Date` by its constructor's. */
  readonly types: ReadonlySet<string>
  /** A type with the length, precision or values that an entity declares. */
  readonly typed: (type: string, options: ColumnOptions) => string
  /** The clauses after a type: the collation, and the value that an update sets. */
  readonly attributes: (options: ColumnOptions) => string
  /** The clause after the type of a generated number; empty if the engine has none. */
  readonly generated: string
}
