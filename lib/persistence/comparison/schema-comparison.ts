import type { ResourceModel } from '../../resource/resource-model.js'
import type { LiveSchema } from '../dialects/catalog/live-table.js'
import { dialectNamed } from '../dialects/dialect-named.js'
import { SEARCH_VECTOR, vectorOf } from '../dialects/search-predicate.js'
import { differenceText } from './difference-text.js'
import { type ComparedDialect, expectedTable } from './expected-table.js'
import { tableDifferences } from './table-differences.js'
import { storedVector, vectorDifferences } from './vector-differences.js'
import { referencesOf, type TableReferences } from '../schema/foreign-keys.js'
import { resourcesIn } from '../schema/resources-in.js'
import { type Naming, tableNameOf } from '../schema/table-name-of.js'
import { tableOf } from '../schema/table-of.js'

/**
 * The differences between a live database and the resources, one line each with what to do. Empty when there are none.
 */
export type SchemaComparison = (live: LiveSchema) => Promise<readonly string[]>

/**
 * Compares the tables of resources with a database: columns, their types, collations and NULLs, the primary key, the
 * indexes by their effect and not by their names, foreign keys, defaults that the model declares, constraints that were never
 * checked, and stored search vectors. Indexes and foreign keys beside those of the model count only where they are unique, or where
 * the framework made them. Pass it to `migrate(…).verify`. Reads catalogs and changes nothing.
 * @param entities - a list of entities, or what a module exports; the DataSource among them says how tables are named.
 * @throws DeclarationError for a resource whose declarations do not fit together.
 */
export function schemaComparison(
  entities: Readonly<Record<string, unknown>> | readonly unknown[],
): SchemaComparison {
  const { models, naming, schema } = resourcesIn(entities)
  return async (live) => {
    const differences: string[] = []
    const dialect = await dialectNamed(live.dialect).identify(live)
    const { catalog, namespace } = dialect
    if (catalog === undefined) throw new TypeError(`${dialect.label} has no schema to compare`)
    if (namespace?.kind === 'schema' && schema !== undefined && schema !== live.schema)
      differences.push(
        `the DataSource has its tables in the schema ${schema}, and these migrations make them in ${live.schema}: say --schema ${schema}, or give the DataSource { schema: ${JSON.stringify(live.schema)} }`,
      )
    const links = referencesOf(models, dialect, naming)
    for (const model of models)
      differences.push(...(await compareModel(model, live, { ...dialect, catalog }, naming, links(model))))
    return differences
  }
}

async function compareModel(
  model: ResourceModel,
  live: LiveSchema,
  dialect: ComparedDialect,
  naming: Naming,
  links: TableReferences,
): Promise<readonly string[]> {
  const { search } = model
  const table = tableNameOf(model, dialect, naming)
  const there = await dialect.catalog.readTable(live, table)
  const isIndexed = dialect.can.fullText && search?.strategy === 'INDEXED'
  const wanted = tableOf(model, dialect, table, links)
  const differences = tableDifferences(
    wanted,
    there,
    expectedTable(wanted, dialect),
    dialect,
    isIndexed ? [SEARCH_VECTOR] : [],
  )
  const lines = differences.flatMap((difference) => differenceText(difference, wanted, dialect) ?? [])
  if (!isIndexed || there === undefined || there.faults.length > 0) return lines
  return [...lines, ...vectorDifferences(table, there, await storedVector(table, vectorOf(search), live))]
}
