import { join } from 'node:path'
import { addedByVersion, createdTables, lintFiles } from '../../lib/migrations/index.js'
import { manifestOf } from '../from-entities/project-manifest.js'
import { hasVersions, writeNextFiles } from '../migrate/next-files.js'
import { type Catalog, type CatalogTable, tableName } from './database-catalog.js'
import { schemaSql } from './schema-sql.js'

export interface WrittenMigration {
  /** The name, such as `0002_existing_tables`. */
  readonly name: string
  readonly files: readonly string[]
  readonly notes: readonly string[]
}

/** Returns notes on columns in the database that no earlier migration appears to create. */
export async function columnNotes(
  folder: string,
  chosen: readonly CatalogTable[],
): Promise<readonly string[]> {
  const files = filesOf(folder)
  if (!hasVersions(files, 'postgres')) return []
  const created = await createdTables(files, 'postgres', chosen.map(tableName))
  const added = await addedByVersion(files, 'postgres')
  const columns = chosen
    .filter((table) => created.has(tableName(table)))
    .flatMap(({ name, columns: all }) => all.map((column) => `${name}.${column.name}`))
    .filter((column) => !added.has(column))
  return columns.map(
    (column) =>
      `no CREATE TABLE or ADD COLUMN in the migrations names ${column}: if no file makes it, build the project and write one with ashlar migrate diff`,
  )
}

const filesOf = (folder: string): string => join(folder, manifestOf(folder)?.ashlar?.files ?? 'migrations')

/** Writes the migration for tables that no earlier migration creates; undefined if there are none. */
export async function writeMigration(
  folder: string,
  catalog: Catalog,
  chosen: readonly CatalogTable[],
  usable: readonly CatalogTable[],
): Promise<WrittenMigration | undefined> {
  const files = filesOf(folder)
  const isFirst = !hasVersions(files, 'postgres')
  const created = isFirst
    ? new Map<string, string>()
    : await createdTables(files, 'postgres', usable.map(tableName))
  const tables = chosen.filter((table) => !created.has(tableName(table)))
  if (tables.length === 0) return undefined
  const before = usable.filter((table) => created.has(tableName(table)))
  const { up, down, notes } = schemaSql(catalog, tables, before)
  const description = isFirst ? 'existing_tables' : 'more_existing_tables'
  const text = `${await acceptedRules(up)}${up}`
  const written = writeNextFiles(files, 'postgres', [{ description, sqlFor: () => ({ up: text, down }) }])
  const [name = ''] = written.names
  const version = Number(name.slice(0, 4))
  return {
    ...{ name, files: written.files },
    notes: [
      ...notes,
      isFirst
        ? `the database has these tables: ashlar migrate baseline --to ${version} records the migration there without running it`
        : `the database has these tables: ashlar migrate resolve --applied ${version} records the migration there without running it`,
    ],
  }
}

/** Returns a comment that disables the lint rules violated by existing tables, which stay unchanged. */
async function acceptedRules(up: string): Promise<string> {
  const findings = await lintFiles(
    { '0002_tables.up.sql': up, '0002_tables.down.sql': '-- none' },
    'postgres',
  )
  const rules = new Set(findings.filter(({ level }) => level !== 'refuse').map(({ rule }) => rule))
  return rules.size === 0 ? '' : `-- ashlar:allow ${[...rules].sort().join(', ')}\n\n`
}
