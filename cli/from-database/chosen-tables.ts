import { nearestNames } from '../../lib/text/nearest-names.js'
import { Failure } from '../errors/failure.js'
import { type Catalog, type CatalogTable, keyOf, tableName } from './database-catalog.js'

/** A table that gets no class. */
export interface LeftOutTable {
  readonly table: string
  readonly reason: string
}

/** The tables of a database that get classes, and the others. */
export interface Tables {
  /**
   * All tables that can have classes. They determine the names, so that names do not depend on the selection.
   */
  readonly usable: readonly CatalogTable[]
  readonly chosen: readonly CatalogTable[]
  readonly leftOut: readonly LeftOutTable[]
}

const KINDS = { v: 'a view', m: 'a materialized view', f: 'a foreign table' } as const

/** The tables of other tools, by name. */
const OF_TOOLS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ migrations: 'TypeORM', typeorm_metadata: 'TypeORM', 'query-result-cache': 'TypeORM' },
    ...{ knex_migrations: 'Knex', knex_migrations_lock: 'Knex', __drizzle_migrations: 'Drizzle' },
    ...{ pgmigrations: 'node-pg-migrate', SequelizeMeta: 'Sequelize', _prisma_migrations: 'Prisma' },
    ...{ mikro_orm_migrations: 'MikroORM', flyway_schema_history: 'Flyway', schema_version: 'Flyway' },
    ...{ databasechangelog: 'Liquibase', databasechangeloglock: 'Liquibase', goose_db_version: 'goose' },
    ...{ alembic_version: 'Alembic', django_migrations: 'Django', ar_internal_metadata: 'Rails' },
    ...{
      schema_migrations: 'a migration tool',
      gorp_migrations: 'sql-migrate',
      atlas_schema_revisions: 'Atlas',
    },
    ...{ spatial_ref_sys: 'PostGIS', ashlar_migrations: 'Ashlar', ashlar_backfills: 'Ashlar' },
  }),
)

/** The tables that Ashlar's own migrations create. */
export const OF_ASHLAR: ReadonlySet<string> = new Set([
  ...['outbox', 'outbox_dispatch_cursor', 'outbox_dead_letter', 'outbox_leases', 'idempotency_markers'],
  ...['idempotency_keys', 'tenant_fence', 'tenant_event_seq', 'tenant_event_policy', 'operations'],
])

/** @throws {Failure} for an unknown schema or table. */
export function chosenTables(
  { tables }: Catalog,
  schemas: readonly string[],
  names: readonly string[],
): Tables {
  const known = [...new Set(tables.map(({ schema }) => schema))]
  for (const schema of schemas) if (!known.includes(schema)) throw unknown('schema', schema, known)
  const migrated = new Set(
    tables.filter(({ name }) => name === 'ashlar_migrations').map(({ schema }) => schema),
  )
  const reasons = new Map(tables.map((one) => [one, reasonOf(one, migrated)]))
  const all = tables.map(tableName)
  for (const name of names) {
    if (!all.includes(name)) throw unknown('tables', name, all)
    const reason = reasons.get(tables[all.indexOf(name)] as CatalogTable)
    if (reason !== undefined) throw new Failure('input', `--tables: ${name} cannot have a class: ${reason}`)
  }
  const isIn = (table: CatalogTable) => schemas.length === 0 || schemas.includes(table.schema)
  const usable = tables.filter((one) => reasons.get(one) === undefined)
  return {
    usable,
    chosen: usable.filter((one) => isIn(one) && (names.length === 0 || names.includes(tableName(one)))),
    leftOut:
      names.length > 0
        ? []
        : tables.filter(isIn).flatMap((one) => {
            const reason = reasons.get(one)
            return reason === undefined ? [] : [{ table: tableName(one), reason }]
          }),
  }
}

function unknown(flag: string, name: string, known: readonly string[]): Failure {
  const [near] = nearestNames(name, known)
  const what = flag === 'schema' ? 'a schema' : 'a table'
  return new Failure(
    'input',
    `--${flag}: the database does not have ${what} ${name}${near === undefined ? '' : `: did you mean ${near}?`}`,
  )
}

/** Returns the reason why a table gets no class; undefined if it gets one. */
function reasonOf(table: CatalogTable, migrated: ReadonlySet<string>): string | undefined {
  const { kind, name, schema } = table
  if (kind !== 'r' && kind !== 'p') return KINDS[kind]
  if (table.isOfExtension) return 'a table of an extension'
  const tool = OF_TOOLS.get(name) ?? (migrated.has(schema) && OF_ASHLAR.has(name) ? 'Ashlar' : undefined)
  if (tool !== undefined) return `a table of ${tool}`
  if (table.isPartition) return 'a partition: its table has the rows'
  if (table.parent !== null) return 'it inherits from another table'
  return keyOf(table).length === 0 ? 'it has no primary key, which TypeORM needs' : undefined
}
