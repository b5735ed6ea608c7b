import { FRAMEWORK, isUpgrade, type Migration } from '../files/migration-files.js'
import { ADOPTED_TABLE } from '../files/framework-tables.js'
import { stopped } from '../messages/problem.js'
import type { ResolvedOptions } from '../session/migrate-options.js'
import type { Session } from '../session/session.js'
import { SessionError } from '../session/session-error.js'
import { readAdopted, readVersions, recordedRow, writeVersion } from '../session/version-table.js'
import { splitStatements } from '../sql/split-statements.js'
import { addedColumns, alterTable, createIndex, createTable } from '../sql/statement-shape.js'

/**
 * Imports the history of another tool from a two-column `schema_migrations` table before the first run. Every
 * file up to its version counts as applied, with an unknown checksum. The tool's table is not changed.
 * Missing tables of Ashlar are created.
 *
 * @throws {MigrationError} if the tool left its version dirty, or if the files do not have that version.
 */
export async function adopt(
  session: Session,
  options: ResolvedOptions,
  migrations: readonly Migration[],
): Promise<void> {
  if ((await readVersions(session)).length > 0) return
  const adopted = await readAdopted(session)
  if (adopted === undefined) return
  refuseUnusable(adopted, migrations)
  const versions = await takenOver(session, adopted.version, migrations)
  const { hasTransactionalDdl } = session.engine
  try {
    if (hasTransactionalDdl) await session.run('START TRANSACTION', 0)
    const created = await completeFramework(session, options, versions[0])
    if (!hasTransactionalDdl) await session.run('START TRANSACTION', 0)
    for (const migration of versions)
      await writeVersion(session, { ...recordedRow(migration), checksum: undefined })
    await session.run('COMMIT', 0)
    const names = versions.map(({ name }) => name)
    options.report({ kind: 'adopted', from: ADOPTED_TABLE, versions: names, created })
  } catch (error) {
    await session.run('ROLLBACK', 0).catch(() => undefined)
    if (!(error instanceof SessionError) || error.failure !== 'failed') throw error
    const { message, code: sqlState } = error
    throw stopped('failed', { kind: 'notTakenOver', table: ADOPTED_TABLE, message, sqlState })
  }
}

/**
 * Returns the versions up to `to` that count as applied without running. Upgrades of Ashlar's tables are only
 * included if their tables exist; otherwise `up` runs them.
 */
export async function takenOver<T extends Migration>(
  session: Session,
  to: number,
  migrations: readonly T[],
): Promise<readonly T[]> {
  const versions: T[] = []
  for (const one of migrations.filter(({ version }) => version <= to))
    if (!isUpgrade(one.version) || (await hasTablesOf(session, one))) versions.push(one)
  return versions
}

/** Returns true if the tables that a file creates exist. */
async function hasTablesOf(session: Session, { up }: Migration): Promise<boolean> {
  for (const statement of splitStatements(up, session.engine.syntax).statements) {
    const table = createTable(statement)?.table
    if (table !== undefined && !(await session.hasTable(table))) return false
  }
  return true
}

/**
 * Rejects a two-column `schema_migrations` table that cannot be imported.
 *
 * @throws {MigrationError} if the tool left its version dirty, or if the files do not have that version.
 */
export function refuseUnusable(
  adopted: { readonly version: number; readonly dirty: boolean } | undefined,
  migrations: readonly Migration[],
): void {
  if (adopted === undefined) return
  const isKnown = migrations.some(({ version }) => version === adopted.version)
  if (adopted.dirty || !isKnown)
    throw stopped('dirty', {
      kind: adopted.dirty ? 'otherDirty' : 'otherUnknown',
      table: ADOPTED_TABLE,
      number: adopted.version,
    })
}

/**
 * Rejects tables that have the name of one of Ashlar's but lack its columns, because an upgrade would change
 * a table of the application.
 *
 * @throws {MigrationError} `foreign`, with the columns that each table lacks.
 */
export async function refuseNamesakes(session: Session, first: Migration | undefined): Promise<void> {
  const tables = first === undefined ? [] : await incompleteTables(session, [first])
  if (tables.length === 0) return
  throw stopped('foreign', { kind: 'namesakes', tables, apart: session.engine.apart })
}

/** A table with the name of one of Ashlar's that lacks columns. */
export interface IncompleteTable {
  readonly table: string
  readonly lacks: readonly string[]
}

/**
 * Returns the tables that lack columns which Ashlar's files add, as far as the user may read them. Missing
 * tables are not included.
 */
async function incompleteTables(
  session: Session,
  files: readonly Migration[],
): Promise<readonly IncompleteTable[]> {
  const wanted = frameworkColumns(session, files)
  const there = await columnsOf(session, [...wanted.keys()])
  return [...wanted].flatMap(([table, columns]) => {
    const found = there.get(table)
    const lacks = columns.filter((name) => found?.has(name) === false)
    return lacks.length === 0 ? [] : [{ table, lacks }]
  })
}

/**
 * Returns the tables and columns of Ashlar that the database lacks. Tables that the user may not read are not
 * included.
 */
export async function missingOfFramework(
  session: Session,
  files: readonly Migration[],
): Promise<{ readonly tables: readonly string[]; readonly incomplete: readonly IncompleteTable[] }> {
  const tables: string[] = []
  for (const table of frameworkColumns(session, files).keys())
    if (!(await session.hasTable(table).catch(isUnreadable))) tables.push(table)
  return { tables, incomplete: await incompleteTables(session, files) }
}

function isUnreadable(error: unknown): boolean {
  if (error instanceof SessionError && error.failure === 'denied') return true
  throw error
}

/** Returns the columns that Ashlar's files add, by table. Empty without the first version. */
function frameworkColumns(
  { engine: { syntax } }: Session,
  files: readonly Migration[],
): ReadonlyMap<string, readonly string[]> {
  const columns = new Map<string, string[]>()
  if (files[0]?.version !== FRAMEWORK) return columns
  for (const { up } of files)
    for (const statement of splitStatements(up, syntax).statements) {
      const made = createTable(statement)
      const altered = alterTable(statement)
      const added = altered?.actions.flatMap((action) => addedColumns(action, syntax)) ?? made?.columns ?? []
      const table = made?.table ?? altered?.table
      if (table === undefined) continue
      const names = columns.get(table) ?? []
      columns.set(table, [...new Set([...names, ...added.map(({ name }) => name)])])
    }
  return columns
}

/** Returns the columns of the existing tables. */
async function columnsOf(
  session: Session,
  tables: readonly string[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  if (tables.length === 0) return new Map()
  const [inSchema, values] = session.engine.versionTable.inSchema(session.schema)
  const rows = await session.rows(
    `SELECT table_name AS of_table, column_name AS name FROM information_schema.columns
     WHERE table_name IN (${tables.map(() => '?').join(', ')}) AND ${inSchema}`,
    [...tables, ...values],
  )
  const found = new Map<string, Set<string>>()
  for (const { of_table: table, name } of rows) {
    const columns = found.get(String(table)) ?? new Set()
    found.set(String(table), columns.add(String(name)))
  }
  return found
}

/**
 * Creates the tables of Ashlar's first version that the other tool's history lacks, such as `operations`.
 * Existing tables are not changed. MySQL commits each table separately; after a crash, the next run finds the
 * created ones.
 *
 * @returns the tables that were created.
 */
export async function completeFramework(
  session: Session,
  options: ResolvedOptions,
  first: Migration | undefined,
): Promise<readonly string[]> {
  const missing: string[] = []
  if (first?.version !== FRAMEWORK) return missing
  for (const statement of splitStatements(first.up, session.engine.syntax).statements) {
    const table = createTable(statement)?.table
    if (table !== undefined && !(await session.hasTable(table))) missing.push(table)
    if (missing.includes(table ?? createIndex(statement)?.table ?? ''))
      await session.run(statement.text, options.statementTimeoutMs, options.signal)
  }
  return missing
}
