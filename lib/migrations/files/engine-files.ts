import type { Dialect } from './dialect-name.js'

/** The properties of an engine that determine its files. */
export interface EngineFiles {
  readonly dialect: Dialect
  /**
   * A SQL expression over information_schema.columns that is true if the database sets a column that an
   * INSERT omits.
   */
  readonly fillsColumn: string
  /** True if the engine uses the files that `search generate` writes. */
  readonly hasSearchFiles: boolean
  readonly syntax: { readonly nameQuote: string }
}
