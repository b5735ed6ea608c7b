import { DeclarationError, problem, type Problem } from '../../errors.js'
import { relationGraph } from '../../resource/relations/graph.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { ChangeFile } from '../dialects/catalog/change-sql.js'
import type { LiveSchema, LiveTable } from '../dialects/catalog/live-table.js'
import type { TableDefinition } from '../dialects/catalog/table-definition.js'
import { quoteTable } from '../dialects/quote-table.js'
import { SEARCH_VECTOR, vectorOf } from '../dialects/search-predicate.js'
import { addForeignKey, createNewTable } from '../schema/create-table.js'
import { referencesOf, unmadeForeignKeys } from '../schema/foreign-keys.js'
import { newTable, schemaOf } from '../schema/new-table.js'
import { resourcesIn } from '../schema/resources-in.js'
import { type SchemaVersion, versionOf } from '../schema/schema-version.js'
import { tableNameOf, tableText } from '../schema/table-name-of.js'
import { tableMigrations } from '../schema/table-migrations.js'
import { tableOf } from '../schema/table-of.js'
import { didYouMean } from '../../text/nearest-names.js'
import type { TableDifference } from '../../text/table-difference.js'
import { comparedDialect, type ComparedDialect } from './expected-table.js'
import { distributed, distributing } from './citus-tables.js'
import { shownDifference } from './shown-difference.js'
import { planTable } from './plan-changes.js'
import type { UnfilledColumn } from './table-plan.js'
import { joined } from './schema-plan.js'
import { type Difference, tableDifferences } from './table-differences.js'
import { vectorDifferences } from './vector-differences.js'

/** The tables of the resources, as the catalog of a database describes them. */
export interface SchemaTables {
  /** @internal */
  readonly dialect: ComparedDialect
  /** The tables in the order of the model; undefined for a missing table. @internal */
  readonly tables: readonly (LiveTable | undefined)[]
}

/** The migrations that bring a database in line with the resources. */
export interface SchemaChanges {
  /** The differences, as `verify` reports them. */
  readonly differences: readonly TableDifference[]
  /** Migrations that are safe while older images run. */
  readonly expand: readonly SchemaVersion[]
  /** Migrations to apply when no older image is running. */
  readonly contract: readonly SchemaVersion[]
  /** The differences that the contract phase removes. */
  readonly left: readonly TableDifference[]
  /** Columns to be filled before the contract phase, each with a query for the rows without a value. */
  readonly fill: readonly UnfilledColumn[]
  /** The differences that must be changed manually. */
  readonly byHand: readonly TableDifference[]
  /**
   * Stored search vectors that are built from older source columns and may read a column that the contract
   * phase drops.
   */
  readonly vectors: readonly TableDifference[]
}

/**
 * The tables of a module's resources, which can be created, read and compared. Pass it to `migrate(…).diff`.
 */
export interface SchemaModel {
  /** Creates the tables in an empty database. */
  readonly make: (live: LiveSchema) => Promise<void>
  /** Reads the tables from a database. */
  readonly read: (live: LiveSchema) => Promise<SchemaTables>
  /**
   * Returns the migrations from one state of the tables to another.
   *
   * @param from - the current tables.
   * @param wanted - the tables that `make` has created, on the same engine.
   * @param known - tables whose differences from `wanted` are ignored.
   * @throws DeclarationError if `@RenamedFrom` names a column that does not exist.
   */
  readonly changes: (from: SchemaTables, wanted: SchemaTables, known?: SchemaTables) => SchemaChanges
  /**
   * Returns the tables of `from` with the column properties of the live tables that a change must preserve,
   * such as comments.
   */
  readonly kept: (from: SchemaTables, live: SchemaTables) => SchemaTables
}

/** Options of the generated migrations. */
export interface SchemaModelOptions {
  /**
   * Distributes new tables if the database has this extension, and changes tables only in ways that it
   * supports.
   */
  readonly distribute?: 'citus' | undefined
}

/**
 * Returns the schema model of resources.
 *
 * @param entities - a list of entities, or the exports of a module. A DataSource among them determines the
 *   table
 * names.
 * @throws DeclarationError if the declarations of a resource contradict each other, or if there is no
 *   resource.
 */
export function schemaModel(
  entities: Readonly<Record<string, unknown>> | readonly unknown[],
  { distribute }: SchemaModelOptions = {},
): SchemaModel {
  const { models: all, naming } = resourcesIn(entities)
  // Tables of other applications are not changed.
  const unsorted = all.filter(({ existing }) => !existing)
  tableMigrations(Object.fromEntries(Object.entries(entities))) // Throws if a resource cannot have a table.
  if (all.length === 0)
    throw new DeclarationError('entities', [problem('entity', 'there is no resource among them')])
  const models = relationGraph(unsorted).order
  const definitions = (dialect: ComparedDialect): readonly TableDefinition[] => {
    const unmade = unmadeForeignKeys(models, dialect)
    if (unmade.length > 0) throw new DeclarationError('entities', unmade)
    const links = referencesOf(models, dialect, naming)
    return models.map((model) => tableOf(model, dialect, tableNameOf(model, dialect, naming), links(model)))
  }
  return {
    make: async (live) => {
      const dialect = await comparedDialect(live)
      const tables = definitions(dialect)
      const made = new Set<string>()
      for (const [at, table] of tables.entries()) {
        for (const statement of schemaOf(table, dialect)) await live.rows(statement)
        for (const statement of createNewTable(linked(table, made).whole, dialect)) await live.rows(statement)
        for (const statement of vectorSql(models[at] as ResourceModel, table, dialect))
          await live.rows(statement)
        made.add(tableText(table))
      }
      for (const table of tables) {
        const there =
          table.foreignKeys.length === 0 ? undefined : await dialect.catalog.live.readTable(live, table)
        for (const key of table.foreignKeys)
          if (
            made.has(tableText(key.target)) &&
            there?.foreignKeys.every(({ name }) => name !== key.name) === true
          )
            await live.rows(addForeignKey(table, key, dialect))
      }
    },
    read: async (live) => {
      const dialect = await comparedDialect(live)
      const tables: (LiveTable | undefined)[] = []
      for (const table of definitions(dialect)) tables.push(await dialect.catalog.live.readTable(live, table))
      return { dialect, tables }
    },
    kept: ({ dialect, tables }, live) => ({
      dialect,
      tables: tables.map((table, at) => table && withRest(table, live.tables[at])),
    }),
    changes: ({ dialect, tables }, wanted, known) => {
      const all = definitions(dialect)
      const unknown = all.flatMap((table, at) => unknownOldNames(table, tables[at]))
      if (unknown.length > 0) throw new DeclarationError('entities', unknown)
      const there = new Set(all.filter((_, at) => tables[at] !== undefined).map(tableText))
      const made: ChangeFile[] = []
      const vectors: TableDifference[] = []
      const differences: TableDifference[] = []
      const plans = all.map((table, at) => {
        const model = models[at] as ResourceModel
        const planned = distribute === undefined ? dialect : distributing(dialect, model, table)
        const [live, want, same] = [tables[at], wanted.tables[at], known?.tables[at]]
        const isIndexed = dialect.can.fullText && model.search?.strategy === 'INDEXED'
        const after = want ?? NOTHING
        const others = isIndexed ? [SEARCH_VECTOR] : []
        const differing = (there: LiveTable | undefined) =>
          tableDifferences(table, there, after, dialect, others)
        const shown = (one: Difference) => shownDifference(one, table, dialect)
        const keyOf = (one: Difference) => JSON.stringify(shown(one) ?? one)
        const left = known === undefined ? [] : differing(same).map(keyOf)
        const found = differing(live).filter((one) => !left.includes(keyOf(one)))
        differences.push(...found.flatMap((one) => shown(one) ?? []))
        if (live === undefined && found.length === 0) return planTable(table, NOTHING, [], dialect)
        if (live !== undefined) {
          const plan = planTable(table, live, found, planned)
          const outdatedIn = (there: LiveTable | undefined) =>
            isIndexed && there !== undefined ? vectorDifferences(table, there, vectorIn(after)) : []
          const known = outdatedIn(same).map(({ kind }) => kind)
          const outdated = outdatedIn(live).filter(({ kind }) => !known.includes(kind))
          differences.push(...outdated)
          plan.byHand.push(...outdated)
          const [stored, wantedVector] = [vectorIn(live), vectorIn(after)]
          if (stored !== undefined && stored !== wantedVector && plan.drop.length > 0)
            vectors.push(...outdated)
          return plan
        }
        const { whole, later } = linked(table, there)
        const file = newTable(model, whole, dialect)
        made.push(distribute === undefined ? file : distributed(file, model, table, dialect))
        there.add(tableText(table))
        const empty = {
          ...after,
          foreignKeys: after.foreignKeys.filter(({ name }) => later.every((key) => key.name !== name)),
        }
        const plan = planTable(
          table,
          empty,
          tableDifferences(table, empty, after, dialect, [SEARCH_VECTOR]),
          planned,
        )
        if (isIndexed) plan.byHand.push(...vectorDifferences(table, NOTHING, undefined))
        return plan
      })
      const { expand, contract, fill, left, byHand } = joined(made, plans)
      return {
        expand: expand.map(versionOf),
        contract: contract.map(versionOf),
        fill,
        left,
        byHand,
        vectors,
        differences,
      }
    },
  }
}

const NOTHING: LiveTable = {
  columns: [],
  primaryKey: [],
  indexes: [],
  foreignKeys: [],
  checks: [],
  triggers: [],
  faults: [],
}

/** Adds the column properties that comparisons ignore, as the database has them. */
const withRest = (table: LiveTable, live: LiveTable | undefined): LiveTable => ({
  ...table,
  columns: table.columns.map((column) => {
    const there = live?.columns.find(({ name }) => name === column.name)
    return {
      ...column,
      ...(there?.rest !== undefined && { rest: there.rest }),
      ...(there?.fallback !== undefined && { ownFallback: there.fallback }),
    }
  }),
})

/**
 * Reports each `@RenamedFrom` whose old and new columns are both missing from the table. Without this check,
 * a misspelled old name would cause the column's values to be lost.
 */
const unknownOldNames = (table: TableDefinition, live: LiveTable | undefined): readonly Problem[] =>
  table.columns.flatMap(({ name, renamedFrom }) => {
    if (live === undefined || renamedFrom === undefined) return []
    const names = live.columns.map((column) => column.name)
    if (names.includes(name) || names.includes(renamedFrom)) return []
    return [
      problem(
        'column',
        `${tableText(table)}.${name}: @RenamedFrom(${JSON.stringify(renamedFrom)}) names the old column in the database, but there is no such column${didYouMean(renamedFrom, names)}`,
      ),
    ]
  })

/** Splits a table's foreign keys: keys to existing tables stay in the table, the others are added later. */
function linked(table: TableDefinition, there: ReadonlySet<string>) {
  const isThere = ({ target }: TableDefinition['foreignKeys'][number]) =>
    there.has(tableText(target)) || tableText(target) === tableText(table)
  return {
    whole: { ...table, foreignKeys: table.foreignKeys.filter(isThere) },
    later: table.foreignKeys.filter((key) => !isThere(key)),
  }
}

function vectorSql(
  { search }: ResourceModel,
  table: TableDefinition,
  dialect: ComparedDialect,
): readonly string[] {
  if (!dialect.can.fullText || search?.strategy !== 'INDEXED') return []
  const [name, column] = [quoteTable(table, dialect), dialect.text.quote(SEARCH_VECTOR)]
  return [
    `ALTER TABLE ${name} ADD COLUMN ${column} tsvector GENERATED ALWAYS AS (${vectorOf(search)}) STORED`,
    `CREATE INDEX ON ${name} USING gin (${column})`,
  ]
}

const vectorIn = ({ columns }: LiveTable): string | undefined =>
  columns.find(({ name }) => name === SEARCH_VECTOR)?.generated
