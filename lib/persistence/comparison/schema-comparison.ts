import { DeclarationError } from '../../errors.js'
import type { TableDifference, TableNote } from '../../text/table-difference.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { CatalogRow, LiveSchema, LiveTable } from '../dialects/catalog/live-table.js'
import { locateTable } from '../dialects/catalog/locate-table.js'
import type { Query, TableDefinition, TableName } from '../dialects/catalog/table-definition.js'
import { SEARCH_VECTOR, vectorOf } from '../dialects/search-predicate.js'
import { shownDifference } from './shown-difference.js'
import { asDistributed } from './citus-credentials.js'
import { existingTable } from './existing-table.js'
import { rowsInOtherFormats } from './rows-in-other-formats.js'
import { rowsWithoutTenant } from './rows-without-tenant.js'
import { comparedDialect, type ComparedDialect, expectedTable } from './expected-table.js'
import { tableDifferences } from './table-differences.js'
import { storedVector, vectorDifferences } from './vector-differences.js'
import { identifyingColumns } from '../schema/identifying-columns.js'
import { referencesOf, type TableReferences, unmadeForeignKeys } from '../schema/foreign-keys.js'
import { resourcesIn } from '../schema/resources-in.js'
import { type Naming, tableNameOf, tableText } from '../schema/table-name-of.js'
import { addCheck, dropConstraint } from '../schema/create-table.js'
import { tableOf } from '../schema/table-of.js'

/** Compares the tables of a live database with the resources. Returns the differences, or an empty list. */
export interface SchemaComparison {
  (live: LiveSchema): Promise<readonly TableDifference[]>
  /** The names of the compared resources. */
  readonly resources: readonly string[]
}

/** @inline */
interface ComparisonOptions {
  /**
   * Receives the harmless differences of tables with `@Resource({ existing: true })`. Default: they are
   * ignored.
   */
  readonly note?: (note: TableNote) => void
}

/**
 * Returns a function that compares the tables of resources with a database. Pass it to `migrate(…).verify`.
 * It reads catalogs and changes nothing.
 *
 * It compares columns (type, collation, NULL, declared default), the primary key, indexes (by definition, not
 * by name), foreign keys, constraints that were never validated, and stored search vectors. Additional
 * indexes and foreign keys are reported only if they are unique or if Ashlar created them.
 *
 * @param entities - a list of entities, or the exports of a module. A DataSource among them determines the
 *   table
 * names.
 * @throws DeclarationError if the declarations of a resource contradict each other.
 */
export function schemaComparison(
  entities: Readonly<Record<string, unknown>> | readonly unknown[],
  { note = () => undefined }: ComparisonOptions = {},
): SchemaComparison {
  const { models, naming, schema } = resourcesIn(entities)
  const compare = async (live: LiveSchema) => {
    const differences: TableDifference[] = []
    const dialect = await comparedDialect(live)
    if (dialect.catalog.namespace?.kind === 'schema' && schema !== undefined && schema !== live.schema)
      differences.push({
        kind: 'otherSchema',
        table: schema,
        is: schema,
        wanted: live.schema,
        text: `the DataSource has its tables in the schema ${schema}, but these migrations create them in ${live.schema}`,
        detail: `pass --schema ${schema}, or give the DataSource { schema: ${JSON.stringify(live.schema)} }`,
      })
    const unmade = unmadeForeignKeys(models, dialect)
    if (unmade.length > 0) throw new DeclarationError('entities', unmade)
    const links = referencesOf(models, dialect, naming)
    // A DataSource states its schema; otherwise the connection's search path applies.
    const at =
      schema === undefined
        ? live
        : { dialect: live.dialect, schema: live.schema, isSchemaNamed: true, rows: live.rows.bind(live) }
    for (const model of models)
      differences.push(...(await compareModel(model, at, dialect, naming, links(model), note)))
    return differences
  }
  return Object.assign(compare, { resources: models.map(({ entity }) => entity.name) })
}

async function compareModel(
  model: ResourceModel,
  live: LiveSchema,
  dialect: ComparedDialect,
  naming: Naming,
  links: TableReferences,
  note: (note: TableNote) => void,
): Promise<readonly TableDifference[]> {
  const { search } = model
  const query: Query = async (text, values) => rowsOf(await live.rows(text.replaceAll(/\$\d+/g, '?'), values))
  const placed = async (table: TableName): Promise<TableName> => {
    if (table.schema !== undefined || dialect.catalog.namespace?.kind !== 'schema') return table
    const here = { ...table, schema: live.schema }
    if (live.isSchemaNamed === true) return here
    const found = await locateTable(query, table, dialect)
    return found.schema === undefined ? here : found
  }
  const table = tableNameOf(model, dialect, naming)
  const place = await placed(table)
  const isIndexed = dialect.can.fullText && search?.strategy === 'INDEXED'
  const declared = tableOf(model, dialect, table, links)
  const there = await referring(await dialect.catalog.live.readTable(live, place), declared, live, placed)
  const wanted = await asDistributed(model, declared, there, live, dialect)
  const differences = tableDifferences(
    wanted,
    there,
    expectedTable(wanted, dialect),
    dialect,
    isIndexed ? [SEARCH_VECTOR] : [],
  )
  for (const one of missingChecks(wanted, there, dialect)) note(one)
  if (there !== undefined && there.faults.length === 0)
    for (const one of await rowsInOtherFormats(model, wanted, place, live, dialect)) note(one)
  if (model.existing && there !== undefined && there.faults.length === 0) {
    const inexact =
      (await dialect.catalog.inexactColumns(query, place, identifyingColumns(model, dialect))) ?? []
    const found = existingTable(model, wanted, there, differences, inexact, dialect)
    for (const one of [
      ...found.notes,
      ...(await rowsWithoutTenant(model, wanted, place, there, live, dialect)),
    ])
      note(one)
    return found.differences
  }
  const shown = differences.flatMap((difference) => shownDifference(difference, wanted, dialect) ?? [])
  if (isIndexed && there !== undefined && there.faults.length === 0)
    shown.push(...vectorDifferences(table, there, await storedVector(place, vectorOf(search), live)))
  const isElsewhere = table.schema === undefined && place.schema !== undefined && place.schema !== live.schema
  return isElsewhere && shown.length > 0 ? [elsewhere(table, place, live), ...shown] : shown
}

/**
 * Returns the missing checks of oneofs. A migration does not add them, because a table only has them if it
 * was created with all members.
 */
const missingChecks = (
  table: TableDefinition,
  there: LiveTable | undefined,
  dialect: ComparedDialect,
): readonly TableNote[] =>
  (table.exclusive ?? []).flatMap((one) => {
    if (there === undefined) return []
    const live = there.checks.find(({ name }) => name === one.name)
    const unread = one.columns.filter((column) => live?.columns.includes(column) !== true)
    if (unread.length === 0) return []
    const [problem, remedy, sql] =
      live === undefined
        ? [`has no check ${one.name}`, 'add', addCheck(table, one, dialect)]
        : [
            `has the check ${one.name} without ${unread.join(', ')}`,
            'replace',
            `${dropConstraint(table, one, dialect)}, then ${addCheck(table, one, dialect)}`,
          ]
    return {
      kind: 'missingCheck',
      table: tableText(table),
      text: `${tableText(table)} ${problem}`,
      detail: `other programs can set several of ${one.columns.join(', ')} in one row, of which the first is used; to ${remedy} the check: ${sql}`,
    }
  })

/**
 * Returns the foreign keys with their targets named as in the model. The catalog qualifies a target in
 * another schema.
 */
async function referring(
  there: LiveTable | undefined,
  { foreignKeys }: TableDefinition,
  { schema }: LiveSchema,
  placed: (table: TableName) => Promise<TableName>,
): Promise<LiveTable | undefined> {
  if (there === undefined) return undefined
  const names = new Map<string, string>()
  for (const { target } of foreignKeys) {
    const at = await placed(target)
    names.set(at.schema === schema ? at.name : tableText(at), tableText(target))
  }
  return {
    ...there,
    foreignKeys: there.foreignKeys.map((key) => ({ ...key, target: names.get(key.target) ?? key.target })),
  }
}

/** Reports a table that is not in the schema for which the files were generated. */
const elsewhere = (table: TableName, { schema = '' }: TableName, live: LiveSchema): TableDifference => ({
  kind: 'otherSchema',
  table: tableText(table),
  is: schema,
  wanted: live.schema,
  text: `${tableText(table)} is in the schema ${schema}, but these migrations create it in ${live.schema}`,
  detail: `pass --schema ${schema}`,
})

/** Returns rows as arrays in the order of the selected columns, with values as an executor reads them. */
const rowsOf = (rows: readonly CatalogRow[]) =>
  rows.map((row) =>
    Object.values(row).map((value) => (typeof value === 'boolean' ? (value ? 't' : 'f') : value)),
  )
