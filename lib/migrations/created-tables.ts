import { engineOf } from './engines.js'
import type { Dialect } from './files/dialect-name.js'
import { type FileSource, isOfFramework, readMigrations } from './files/migration-files.js'
import { type Statement, splitStatements } from './sql/split-statements.js'
import { addedColumns, alterTable, createTable, dropped } from './sql/statement-shape.js'

/**
 * Returns the tables that exist after a module's files are applied, each with the version that creates it
 * (`0002_widgets`). If a file or `tables` omits the schema, names are compared without it, unless another
 * entry of `tables` matches exactly. Tables in routines and `DO` blocks are not found.
 *
 * @internal
 * @param tables - names such as `widgets` or `inventory.widgets`.
 * @throws {DeclarationError} with every misnamed, missing, duplicate or misplaced file.
 */
export async function createdTables(
  files: FileSource,
  dialect: Dialect,
  tables: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const created = new Map<string, string>()
  for (const { name, statement } of await upStatements(files, dialect)) {
    const made = createTable(statement)
    if (made !== undefined && !made.isTemporary) created.set(made.table, name)
    const drop = dropped(statement)
    if (drop?.what === 'TABLE') for (const table of drop.names) created.delete(same(table, created) ?? '')
  }
  const found = new Map<string, string>()
  for (const table of tables) {
    const name = same(table, created)
    const version = name === table || !tables.includes(name ?? '') ? created.get(name ?? '') : undefined
    if (version !== undefined) found.set(table, version)
  }
  return found
}

/**
 * Returns the columns that the files' statements add, such as `widgets.colour`, each with its version. Table
 * names have no schema. Columns that a later file drops are included.
 * @internal
 */
export async function addedByVersion(
  files: FileSource,
  dialect: Dialect,
): Promise<ReadonlyMap<string, string>> {
  const added = new Map<string, string>()
  for (const { name, statement } of await upStatements(files, dialect)) {
    const made = createTable(statement)
    const altered = alterTable(statement)
    const table = withoutSchema(made?.table ?? altered?.table ?? '')
    if (made !== undefined) added.set(table, name)
    const columns = [
      ...(made?.columns ?? []),
      ...(altered?.actions ?? []).flatMap((action) => addedColumns(action, statement.syntax)),
    ]
    for (const column of columns) added.set(`${table}.${column.name}`, name)
  }
  return added
}

/** Returns the statements of all up migrations in order, each with the name of its version. */
async function upStatements(
  files: FileSource,
  dialect: Dialect,
): Promise<readonly { readonly name: string; readonly statement: Statement }[]> {
  const engine = engineOf(dialect)
  return (await readMigrations(files, engine)).flatMap(({ name, up }) =>
    splitStatements(up, engine.syntax).statements.map((statement) => ({ name, statement })),
  )
}

/**
 * Returns the versions whose down migrations have no statements, so that their objects remain.
 * @internal
 */
export async function withoutDownMigration(files: FileSource, dialect: Dialect): Promise<readonly string[]> {
  const engine = engineOf(dialect)
  return (await readMigrations(files, engine))
    .filter(({ version }) => !isOfFramework(version))
    .filter(({ down = '' }) => splitStatements(down, engine.syntax).statements.length === 0)
    .map(({ name }) => name)
}

/**
 * Returns the name under which a table was created: the given name, or this name with or without a schema.
 */
function same(table: string, created: ReadonlyMap<string, string>): string | undefined {
  if (created.has(table)) return table
  const bare = withoutSchema(table)
  if (bare !== table) return created.has(bare) ? bare : undefined
  return [...created.keys()].find((other) => withoutSchema(other) === table)
}

const withoutSchema = (name: string): string => name.slice(name.lastIndexOf('.') + 1)
