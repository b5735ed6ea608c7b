import type { SchemaComparison, TableNote } from '../../lib/migrations/index.js'
import { fromEntities, noEntities } from '../loading/entities.js'

/**
 * Returns the comparison of a database with the entities of a module.
 * @param note - receives the permitted differences of other applications' tables.
 * @throws {Failure} if the module is unusable.
 */
export async function comparisonOf(
  module: string,
  note: (note: TableNote) => void,
): Promise<SchemaComparison> {
  const { schemaComparison, tableMigrations } = await import('../../lib/persistence/index.js')
  return fromEntities(module, (exports) => {
    tableMigrations(exports) // Rejects entities without a possible table.
    const comparison = schemaComparison(exports, { note })
    if (comparison.resources.length === 0) throw noEntities(module)
    return comparison
  })
}
