import type { ColumnOptions } from 'typeorm'

/** The SQL of columns that TypeORM manages and Ashlar does not read. */
export interface TypeormColumnsSql {
  /** The storage of a computed column, or undefined to use the declared one. */
  readonly computed: string | undefined
  /** The types of the engine by TypeORM's names. `Date` stands for the constructor. */
  readonly types: ReadonlySet<string>
  /** Returns a type with the length, precision or values that the entity declares. */
  readonly typed: (type: string, options: ColumnOptions) => string
  /** Returns the clauses after a type: the collation and the ON UPDATE value. */
  readonly attributes: (options: ColumnOptions) => string
  /** The clause after the type of an auto-increment column. Empty if the engine has none. */
  readonly generated: string
}
