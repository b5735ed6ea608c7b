import { inheritedFacts } from '../../decorators/metadata.js'
import { type EntityClass, resourceModel } from '../resource/resource-model.js'
import { vectorOf } from './query/search.js'

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
  const models = [...new Set(Object.values(exports))].filter(isResource).map(resourceModel)
  const tables = models.flatMap(({ table, search }) =>
    search?.strategy === 'INDEXED' ? [{ table, vector: vectorOf(search) }] : [],
  )
  return { resources: models.length, tables: tables.sort((a, b) => (a.table < b.table ? -1 : 1)) }
}

const isResource = (value: unknown): value is EntityClass<object> =>
  typeof value === 'function' && inheritedFacts(value).resource !== undefined
