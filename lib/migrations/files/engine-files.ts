import type { Dialect } from './dialect-name.js'

/** The properties of a module's files that an engine needs. */
export interface EngineFiles {
  readonly dialect: Dialect
  /** SQL for whether the database fills a column of information_schema.columns that an INSERT leaves out. */
  readonly fillsColumn: string
  /** True if the engine uses the files that `search generate` writes. */
  readonly hasSearchFiles: boolean
  readonly syntax: { readonly nameQuote: string }
}
