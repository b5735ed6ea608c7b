import type { ResourceModel } from '../../resource/resource-model.js'
import { compareTable } from './compare-table.js'
import { compareVector } from './compare-vector.js'
import { liveMysql, mysqlKind } from './live-mysql.js'
import { livePostgres } from './live-postgres.js'
import type { LiveSchema } from './live-table.js'
import { SEARCH_VECTOR } from '../dialects/search-sql.js'
import { resourcesIn } from './resources-in.js'
import { tableOf } from './table-definition.js'
import { type Naming, tableNameOf } from './table-name.js'

/** What of a live database is not as the resources say, one line each with what to do; empty when nothing is. */
export type SchemaComparison = (live: LiveSchema) => Promise<readonly string[]>

/**
 * Compares the tables of resources with a database: columns, their types, collations and NULLs,
 * the primary key, the indexes by what they are good for whatever their names, and stored search vectors. Indexes beside
 * those of the model count only where they are unique. Hand it to `migrate(…).verify`. Reads catalogs and changes nothing.
 * @param entities - a list of entities, or what a module exports; the DataSource among them says how tables are named.
 * @throws DeclarationError for a resource whose declarations do not fit together.
 */
export function schemaComparison(
  entities: Readonly<Record<string, unknown>> | readonly unknown[],
): SchemaComparison {
  const { models, naming, schema } = resourcesIn(entities)
  return async (live) => {
    const differences: string[] = []
    if (live.dialect === 'postgres' && schema !== undefined && schema !== live.schema)
      differences.push(
        `the DataSource has its tables in the schema ${schema}, and these migrations make them in ${live.schema}: say --schema ${schema}, or give the DataSource { schema: ${JSON.stringify(live.schema)} }`,
      )
    const kind = live.dialect === 'mysql' ? await mysqlKind(live) : undefined
    for (const model of models)
      differences.push(
        ...(kind === undefined
          ? await onPostgres(model, live, naming)
          : await onMysql(model, live, kind, naming)),
      )
    return differences
  }
}

async function onPostgres(
  model: ResourceModel,
  live: LiveSchema,
  naming: Naming,
): Promise<readonly string[]> {
  const { search } = model
  const table = tableNameOf(model, 'postgres', naming)
  const there = await livePostgres(live, table)
  const isIndexed = search?.strategy === 'INDEXED'
  const differences = compareTable(
    tableOf(model, 'postgres', table),
    there,
    'postgres',
    isIndexed ? [SEARCH_VECTOR] : [],
  )
  if (!isIndexed || there === undefined || there.faults.length > 0) return differences
  return [...differences, ...(await compareVector(table, search, live, there))]
}

async function onMysql(
  model: ResourceModel,
  live: LiveSchema,
  kind: 'mysql' | 'mariadb',
  naming: Naming,
): Promise<readonly string[]> {
  const table = tableNameOf(model, kind, naming)
  return compareTable(tableOf(model, kind, table), await liveMysql(live, table, kind), kind)
}
