import { postgres } from '../dialects/postgres.js'
import { vectorOf } from '../dialects/search-predicate.js'
import { resourcesIn } from './resources-in.js'
import { tableNameOf } from './table-name-of.js'

/** A table whose search vector is stored, and the expression of the vector. */
export interface SearchTable {
  readonly table: string
  /** The schema that the entity names, or the module's. */
  readonly schema?: string | undefined
  readonly vector: string
}

/** The resources among a module's exports. */
export interface SearchTables {
  /** The number of resources among the exports. */
  readonly resources: number
  /** Those with INDEXED search, by name. */
  readonly tables: readonly SearchTable[]
}

/**
 * The tables that need a migration for their `search_vector`. Pass the exports of a module, as
 * `await import(…)` returns them, and pass the `tables` of the result to `searchMigrations`.
 * @throws DeclarationError for a resource whose declarations do not fit together.
 */
export function searchTables(exports: Readonly<Record<string, unknown>>): SearchTables {
  const { models, naming } = resourcesIn(exports)
  const tables = models.flatMap((model): SearchTable[] => {
    const { search } = model
    if (search?.strategy !== 'INDEXED') return []
    const { schema, name } = tableNameOf(model, postgres, naming)
    return [{ table: name, ...(schema !== undefined && { schema }), vector: vectorOf(search) }]
  })
  return { resources: models.length, tables }
}
