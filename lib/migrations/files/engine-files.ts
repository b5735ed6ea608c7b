import type { Dialect } from './dialect-name.js'

/** What an engine needs to know about the files of a module. */
export interface EngineFiles {
  readonly dialect: Dialect
  /** SQL for whether the database fills a column of information_schema.columns that an INSERT leaves out. */
  readonly fillsColumn: string
  /** True if the engine uses the files that `search generate` writes. */
  readonly hasSearchFiles: boolean
  readonly syntax: { readonly nameQuote: string }
}
