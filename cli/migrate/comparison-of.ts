import type { SchemaComparison } from '../../lib/migrations/index.js'
import { fromEntities, noEntities } from '../loading/entities.js'

/**
 * The comparison of a database with the entities of a module. @throws {Failure} when the module cannot be
 * used.
 */
export async function comparisonOf(module: string): Promise<SchemaComparison> {
  const { schemaComparison, tableMigrations } = await import('../../lib/persistence/index.js')
  return fromEntities(module, (exports) => {
    if (tableMigrations(exports).length === 0) throw noEntities(module)
    return schemaComparison(exports)
  })
}
