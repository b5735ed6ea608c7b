import type { MigrationSql } from '../catalog/migration-sql.js'
import type { TableDefinition } from '../catalog/table-definition.js'
import { quoted, textLiteral } from '../values/quoted.js'

/** The column types for which PostgreSQL can generate numbers. */
const COUNTED: ReadonlySet<string> = new Set(['smallint', 'integer', 'bigint'])

/** Returns the generated keys whose column type does not support generated numbers. */
export const uncountedKeys = ({ columns }: TableDefinition): readonly string[] =>
  columns
    .filter(({ isIdentity, type }) => isIdentity === true && !COUNTED.has(type))
    .map(({ name, type }) => `${name} is ${type}, which cannot be an identity column: remove unsigned`)

export const postgresMigration: MigrationSql = {
  /** An `integer` column has the same range as a proto int32. */
  lintComments: ({ columns }) =>
    columns.some(({ type }) => type === 'integer') ? '-- ashlar:allow prefer-bigint-over-int\n' : '',
  /**
   * `CREATE SCHEMA IF NOT EXISTS` needs the right to create a schema even if it exists. The down migration
   * keeps the schema, because other tables may be in it.
   */
  createSchema: (schema) => {
    const create = textLiteral(`CREATE SCHEMA ${quoted(schema, '"')}`)
    const body = `BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = ${textLiteral(schema)}) THEN
    EXECUTE ${create};
  END IF;
END`
    return [`DO LANGUAGE plpgsql ${body.includes('$$') ? textLiteral(body) : `$$\n${body}\n$$`}`]
  },
  notes: (table) => uncountedKeys(table).map((problem) => `on PostgreSQL ${problem}`),
}
