import { DeclarationError } from '../../errors.js'
import { quoteIdentifier } from '../dialects/identifier.js'
import { resourcesIn } from './resources-in.js'
import { createNewTable, tableOf, type TableDefinition } from './table-definition.js'
import { quoteTable, type TableName, tableNameOf, tableText } from './table-name.js'

/** The SQL of one version, there and back. */
export interface TableSql {
  /** What it creates. Without a schema it is in the one that the migrations run in. */
  readonly table: TableName
  readonly up: string
  readonly down: string
}

/** The migration that creates the table of one resource. */
export interface TableMigration {
  /** `widgets`, or `inventory.widgets` where the entity names a schema. */
  readonly table: string
  readonly postgres: TableSql
  /** For MySQL 8 and MariaDB alike. */
  readonly mysql: TableSql
  /** What somebody has to know before it is applied, a sentence each. */
  readonly notes: readonly string[]
}

/**
 * The migrations that create the tables of the resources that a module exports (hand it `await import(…)`), by the names of
 * the tables: with the primary key, every index and the collations that isolation, uniqueness and order need. A DataSource
 * among the exports gives its `entityPrefix` and naming strategy. Empty when there is no resource.
 * @throws DeclarationError for a resource whose declarations do not fit together, and for two of one table.
 */
export function tableMigrations(exports: Readonly<Record<string, unknown>>): readonly TableMigration[] {
  const { models, naming } = resourcesIn(exports)
  const tables = models.map((model) => ({
    model,
    postgres: tableNameOf(model, 'postgres', naming),
    mysql: tableNameOf(model, 'mysql', naming),
  }))
  const doubled = repeated(tables.map(({ postgres }) => tableText(postgres)))
  if (doubled.size > 0)
    throw new DeclarationError(
      'entities',
      [...doubled].map((name) => `two resources have the table ${name}`),
    )
  const doubledOnMysql = repeated(tables.map(({ mysql }) => tableText(mysql)))
  return tables.map(({ model, postgres, mysql }) => {
    const onMysql = tableOf(model, 'mysql', mysql)
    const makeSchema = postgres.schema === undefined ? [] : [createSchema(postgres.schema)]
    const title = `-- The table of the resource ${model.type}, as its decorators describe it.\n`
    const table = tableText(postgres)
    const search =
      model.search?.strategy === 'INDEXED'
        ? [`${table} has INDEXED search: ashlar search generate writes its vector and index`]
        : []
    const elsewhere =
      mysql.schema === undefined
        ? []
        : [
            `on MySQL ${tableText(mysql)} is in a database that its entity names, and these files do not make: CREATE DATABASE needs more rights than a migration has`,
          ]
    const shared = doubledOnMysql.has(tableText(mysql))
      ? [
          `on MySQL several resources have the table ${tableText(mysql)}, because it ignores the schema of an entity: say @Entity({ database }), or another name`,
        ]
      : []
    return {
      table,
      postgres: sqlOf(tableOf(model, 'postgres', postgres), 'postgres', title, makeSchema),
      mysql: sqlOf(onMysql, 'mysql', title),
      notes: [...search, ...elsewhere, ...keysTooLong(onMysql), ...shared],
    }
  })
}

const repeated = (names: readonly string[]): ReadonlySet<string> =>
  new Set(names.filter((name, index) => names.indexOf(name) !== index))

/** @param before - statements that come first. */
function sqlOf(
  table: TableDefinition,
  dialect: 'postgres' | 'mysql',
  title: string,
  before: readonly string[] = [],
): TableSql {
  // A proto int32 ends where the column does.
  const isMeant = dialect === 'postgres' && table.columns.some(({ type }) => type === 'integer')
  const allowed = isMeant ? '-- ashlar:allow prefer-bigint-over-int\n' : ''
  const statements = [...before, ...createNewTable(table, dialect)].map((text) => `${text};\n`)
  return {
    table: { schema: table.schema, name: table.name },
    up: `${title}${allowed}\n${statements.join('\n')}`,
    down: `DROP TABLE ${quoteTable(table, dialect)};\n`,
  }
}

/**
 * The schema that an entity names, on PostgreSQL. `CREATE SCHEMA IF NOT EXISTS` would ask for the right to make one even where
 * it is there. The way back leaves it: other tables may be in it.
 */
function createSchema(schema: string): string {
  const text = (value: string) => `'${value.replaceAll("'", "''")}'`
  const create = text(`CREATE SCHEMA ${quoteIdentifier(schema, 'postgres')}`)
  const body = `BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = ${text(schema)}) THEN
    EXECUTE ${create};
  END IF;
END`
  return `DO LANGUAGE plpgsql ${body.includes('$$') ? text(body) : `$$\n${body}\n$$`}`
}

const LONGEST_KEY = 3072
const BYTES_OF_A_CHARACTER = 4
const LONGEST_OTHER = 8

/** InnoDB refuses a longer key, so that the file would fail. */
function keysTooLong({ name: table, columns, primaryKey, indexes }: TableDefinition): readonly string[] {
  const bytes = new Map(columns.map(({ name, type }) => [name, bytesOf(type)]))
  return [{ name: 'PRIMARY KEY', columns: primaryKey }, ...indexes].flatMap(({ name, columns: of }) => {
    const length = of.reduce((sum, column) => sum + (bytes.get(column) ?? 0), 0)
    if (length <= LONGEST_KEY) return []
    const size = Number.isFinite(length) ? `has ${length} bytes` : 'has a column without a length'
    return [
      `on MySQL ${name} of ${table} ${size} and may have ${LONGEST_KEY}: give ${of.join(', ')} shorter lengths`,
    ]
  })
}

function bytesOf(type: string): number {
  const length = /^varchar\((\d+)\)$/.exec(type)?.[1]
  if (length !== undefined) return Number(length) * BYTES_OF_A_CHARACTER
  return type.startsWith('long') || type === 'json' ? Infinity : LONGEST_OTHER
}
