import { postgres } from '../dialects/postgres.js'
import { vectorOf } from '../dialects/search-predicate.js'
import { resourcesIn } from './resources-in.js'
import { tableNameOf } from './table-name-of.js'

/** A table whose search vector is stored, and the expression of the vector. */
export interface SearchTable {
  readonly table: string
  /** Where the entity names one; else the schema of the module. */
  readonly schema?: string | undefined
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
  const { models, naming } = resourcesIn(exports)
  const tables = models.flatMap((model): SearchTable[] => {
    const { search } = model
    if (search?.strategy !== 'INDEXED') return []
    const { schema, name } = tableNameOf(model, postgres, naming)
    return [{ table: name, ...(schema !== undefined && { schema }), vector: vectorOf(search) }]
  })
  return { resources: models.length, tables }
}
