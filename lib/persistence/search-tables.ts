import { vectorOf } from './query/search.js'
import { resourcesIn } from './resources-in.js'

/** A table whose search vector is stored, and the expression of the vector. */
export interface SearchTable {
  readonly table: string
  readonly vector: string
}

/** What a module's exports have of resources. */
export interface SearchTables {
  /** How many resources were among the exports. */
  readonly resources: number
  /** Those with INDEXED search, by name. */
  readonly tables: readonly SearchTable[]
}

/**
 * The tables whose `search_vector` migrations have to make, of the resources that a module exports: hand it
 * `await import(…)`, and its `tables` to `searchMigrations`.
 * @throws DeclarationError for a resource whose declarations do not fit together.
 */
export function searchTables(exports: Readonly<Record<string, unknown>>): SearchTables {
  const models = resourcesIn(exports)
  const tables = models.flatMap(({ table, search }) =>
    search?.strategy === 'INDEXED' ? [{ table, vector: vectorOf(search) }] : [],
  )
  return { resources: models.length, tables }
}
