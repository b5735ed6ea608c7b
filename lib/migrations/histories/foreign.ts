import { createHash } from 'node:crypto'
import type { Dialect } from '../files/dialect-name.js'
import type { Session } from '../session/session.js'

/** The table in which a tool records applied migrations. */
interface ForeignHistory {
  readonly tool: string
  readonly table: string
  /** Columns that the table must all have, because a different table may have the same name. */
  readonly columns: readonly string[]
  /** The column that identifies a migration. Default: `name`. */
  readonly identity?: string
  /** The schema of the table on PostgreSQL, if the tool migrates `public`. Default: the migrated schema. */
  readonly schema?: string
}

const HISTORIES: readonly ForeignHistory[] = [
  { tool: 'TypeORM', table: 'migrations', columns: ['id', 'timestamp', 'name'] },
  { tool: 'Knex', table: 'knex_migrations', columns: ['name', 'batch', 'migration_time'] },
  {
    tool: 'Drizzle',
    table: '__drizzle_migrations',
    columns: ['hash', 'created_at'],
    identity: 'hash',
    schema: 'drizzle',
  },
  { tool: 'Drizzle', table: '__drizzle_migrations', columns: ['hash', 'created_at'], identity: 'hash' },
  { tool: 'node-pg-migrate', table: 'pgmigrations', columns: ['name', 'run_on'] },
  { tool: 'Sequelize', table: 'SequelizeMeta', columns: ['name'] },
  {
    tool: 'Prisma',
    table: '_prisma_migrations',
    columns: ['checksum', 'migration_name'],
    identity: 'migration_name',
  },
  { tool: 'MikroORM', table: 'mikro_orm_migrations', columns: ['name', 'executed_at'] },
  {
    tool: 'Flyway',
    table: 'flyway_schema_history',
    columns: ['installed_rank', 'version', 'checksum'],
    identity: 'installed_rank',
  },
  { tool: 'Liquibase', table: 'databasechangelog', columns: ['id', 'author', 'filename'], identity: 'id' },
  { tool: 'goose', table: 'goose_db_version', columns: ['version_id', 'is_applied'], identity: 'id' },
  { tool: 'Alembic', table: 'alembic_version', columns: ['version_num'], identity: 'version_num' },
  { tool: 'Django', table: 'django_migrations', columns: ['app', 'name', 'applied'] },
  { tool: 'dbmate or Rails', table: 'schema_migrations', columns: ['version'], identity: 'version' },
]

/** The last migration in another tool's history. */
export interface Head {
  /** The number of migrations in the history. */
  readonly count: number
  /** A digest of the migrations' names. */
  readonly digest: string
}

/** Another tool that migrates the schema. */
export interface ForeignTool {
  /** The tool's name, such as `TypeORM`. */
  readonly tool: string
  readonly dialect: Dialect
  /** The table of the tool's history. */
  readonly table: string
  /** All tables of the tool: its history and its lock table. */
  readonly tables: readonly string[]
  /** The last migration in its history. */
  readonly head: Head
}

/** A tool whose schema can be imported. */
export interface AdoptableTool extends ForeignTool {
  /** The migrated schema. Empty on MySQL. */
  readonly schema: string
  /**
   * The command that dumps the schema, without the tool's tables, to stdout, for `ashlar migrate adopt`. It
   * contains no password.
   */
  readonly dump: string
}

/** Returns the tool that migrates a session's schema, or undefined if no known tool's table exists. */
export async function foreignTool(session: Session): Promise<ForeignTool | undefined> {
  const { foreign } = session.engine
  const columns = await session.rows(...foreign.columns(session.schema))
  for (const history of HISTORIES) {
    const { schema = session.schema } = history
    const isHere = (name: unknown) => session.schema === '' || name === schema
    const ofTable = columns.filter(
      (column) =>
        isHere(column.schema_name) && String(column.table_name).toLowerCase() === history.table.toLowerCase(),
    )
    const there = ofTable.map((column) => String(column.column_name).toLowerCase())
    const isWhole = history.columns.length > 1 || there.length === 1
    if (!isWhole || !history.columns.every((column) => there.includes(column))) continue
    const table = String(ofTable[0]?.table_name)
    const lock = new RegExp(`^${history.table}_?lock`, 'i')
    const locks = columns
      .filter((column) => isHere(column.schema_name) && lock.test(String(column.table_name)))
      .map((column) => String(column.table_name))
    return {
      tool: history.tool,
      dialect: session.dialect,
      table: history.table,
      tables: [...new Set([table, ...locks])],
      head: await headOf(
        session,
        session.schema === '' ? [table] : [schema, table],
        history.identity ?? 'name',
      ),
    }
  }
  return undefined
}

async function headOf(session: Session, path: readonly string[], identity: string): Promise<Head> {
  const mark = session.engine.syntax.nameQuote
  const quoted = (name: string) => mark + name.replaceAll(mark, mark + mark) + mark
  const rows = await session.rows(`SELECT ${quoted(identity)} AS one FROM ${path.map(quoted).join('.')}`)
  const names = rows.map(({ one }) => String(one)).sort()
  return {
    count: names.length,
    digest: createHash('sha256').update(names.join('\n')).digest('hex').slice(0, 12),
  }
}
