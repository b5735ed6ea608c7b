import type { SchemaComparison, TableNote } from '../../lib/migrations/index.js'
import { fromEntities, noEntities } from '../loading/entities.js'

/**
 * The comparison of a database with the entities of a module. @param note - receives differences that tables
 * of other applications may have. @throws {Failure} if the module cannot be used.
 */
export async function comparisonOf(
  module: string,
  note: (note: TableNote) => void,
): Promise<SchemaComparison> {
  const { schemaComparison, tableMigrations } = await import('../../lib/persistence/index.js')
  return fromEntities(module, (exports) => {
    tableMigrations(exports) // It refuses what no table can be made of.
    const comparison = schemaComparison(exports, { note })
    if (comparison.resources.length === 0) throw noEntities(module)
    return comparison
  })
}
