import { postgres } from '../dialects/postgres.js'
import { vectorOf } from '../dialects/search-predicate.js'
import { resourcesIn } from './resources-in.js'
import { tableNameOf } from './table-name-of.js'

/**
 * A table with a stored search vector, and the vector's expression.
 * @internal
 */
export interface SearchTable {
  readonly table: string
  /** The schema that the entity names, or the module's. */
  readonly schema?: string | undefined
  readonly vector: string
}

/**
 * The resources with stored search vectors among a module's exports.
 * @internal
 */
export interface SearchTables {
  /** The total number of exported resources. */
  readonly resources: number
  /** The tables with INDEXED search, by name. */
  readonly tables: readonly SearchTable[]
}

/**
 * Returns the tables that need a migration for `search_vector`. Pass the exports of a module, as `await
 * import(…)` returns them, and pass `tables` of the result to `searchMigrations`.
 *
 * @internal
 * @throws DeclarationError if a resource's declarations contradict each other.
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
