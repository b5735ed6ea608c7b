import { createHash } from 'node:crypto'
import type { Dialect } from '../files/dialect-name.js'
import type { Session } from '../session/session.js'

/** The table in which a tool records applied migrations. */
interface ForeignHistory {
  readonly tool: string
  readonly table: string
  /** Columns that it has, all of them where there is one: a table of another meaning may have its name. */
  readonly columns: readonly string[]
  /** The column that identifies a migration; default `name`. */
  readonly identity?: string
  /** Its schema on PostgreSQL, for the tables in `public`. Default: the schema that it migrates. */
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
  /** The number of migrations it lists. */
  readonly count: number
  /** Of their names. */
  readonly digest: string
}

/** Another tool that migrates a schema. */
export interface ForeignTool {
  /** Such as `TypeORM`. */
  readonly tool: string
  readonly dialect: Dialect
  /** The table of its history. */
  readonly table: string
  /** Every table that the tool has for itself: its history, and the one in which it locks. */
  readonly tables: readonly string[]
  /** The last migration of its history. */
  readonly head: Head
}

/** A tool whose schema can be taken over. */
export interface AdoptableTool extends ForeignTool {
  /** The schema that it migrates; empty on MySQL. */
  readonly schema: string
  /**
   * The command line that dumps the schema to stdout, without the tables of the tool, for
   * `ashlar migrate adopt`. It has no password in it.
   */
  readonly dump: string
}

/** The tool that migrates the schema of a session; undefined where none is known by its table. */
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
