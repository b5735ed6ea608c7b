import type { Dialect } from './dialect.js'

/** What an engine says about the files of a module. */
export interface EngineFiles {
  readonly dialect: Dialect
  /** Whether the files that `search generate` writes are for it. */
  readonly hasSearchFiles: boolean
}
