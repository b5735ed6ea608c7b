import { problem, type Problem } from '../../errors.js'
import type { TableDefinition } from '../dialects/catalog/table-definition.js'
import type { Dialect } from '../dialects/dialect.js'
import { tableText } from './table-name-of.js'

/** Returns the keys that the engine would reject, each with advice. */
export const refusedKeys = (
  table: TableDefinition,
  { label, ddl: { refusedKeys: refused } }: Dialect,
): readonly Problem[] => refused(table).map((why) => problem('index', `on ${label} ${why}`))

/**
 * Returns problems for index names that two tables share. PostgreSQL and SQLite require unique names per
 * schema, so the second index would never be created.
 */
export function sharedIndexNames(tables: readonly TableDefinition[]): readonly Problem[] {
  const owners = new Map<string, TableDefinition>()
  return tables.flatMap((table) =>
    table.indexes.flatMap(({ name }) => {
      const key = `${table.schema ?? ''}\0${name}`
      const owner = owners.get(key)
      if (owner === undefined) owners.set(key, table)
      return owner === undefined || owner === table
        ? []
        : [
            problem(
              'index',
              `${tableText(owner)} and ${tableText(table)} both have an index named ${name}`,
              `give one of them another name, as in @Unique('name', ['property'])`,
            ),
          ]
    }),
  )
}
