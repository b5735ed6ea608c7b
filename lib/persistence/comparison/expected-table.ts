import type { Catalog, LiveColumn, LiveSchema, LiveTable } from '../dialects/catalog/live-table.js'
import type { TableDefinition } from '../dialects/catalog/table-definition.js'
import type { Dialect } from '../dialects/dialect.js'
import { dialectNamed } from '../dialects/dialect-named.js'
import { tableText } from '../schema/table-name-of.js'

/** A dialect that can read live schemas. */
export type ComparedDialect = Dialect & { readonly catalog: { readonly live: Catalog } }

/**
 * Returns the dialect of a live schema.
 *
 * @throws TypeError if Ashlar cannot read the engine's catalog.
 */
export async function comparedDialect(live: LiveSchema): Promise<ComparedDialect> {
  const dialect = await dialectNamed(live.dialect).catalog.identify(live)
  const { catalog, label } = dialect
  if (catalog.live === undefined) throw new TypeError(`${label} has no schema to compare`)
  return { ...dialect, catalog: { ...catalog, live: catalog.live } }
}

/** Returns a resource's table as the catalog would describe it. */
export function expectedTable(
  table: TableDefinition,
  { catalog: { live: catalog } }: ComparedDialect,
): LiveTable {
  const { columns, primaryKey, indexes, foreignKeys } = table
  return {
    columns: columns.map(({ name, catalogType, isText, nullable, fallback, initial }): LiveColumn => {
      const value = fallback ?? initial
      return {
        name,
        type: catalogType,
        collation: isText ? catalog.exactCollations[0] : undefined,
        nullable,
        fallback: value === undefined ? undefined : catalog.defaultText(value, catalogType),
        generated: undefined,
      }
    }),
    primaryKey,
    indexes: indexes.map((index) => ({ ...index, isConstraint: false })),
    foreignKeys: foreignKeys.map((key) => ({ ...key, target: tableText(key.target) })),
    checks: [],
    triggers: [],
    faults: [],
  }
}
