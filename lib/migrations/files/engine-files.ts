import type { Dialect } from './dialect-name.js'

/** What an engine needs to know about the files of a module. */
export interface EngineFiles {
  readonly dialect: Dialect
  /** Whether the engine uses the files that `search generate` writes. */
  readonly hasSearchFiles: boolean
  readonly syntax: { readonly nameQuote: string }
}
