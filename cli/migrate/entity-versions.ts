import { existsSync } from 'node:fs'
import type { CommandLine, Dialect } from '../../lib/migrations/index.js'
import type { TableMigration, TableSql } from '../../lib/persistence/index.js'
import { fromEntities, noEntities, noneToMake } from '../loading/entities.js'
import { attempt } from './attempt.js'
import { foldersOf, type NextVersion } from './next-files.js'

/** The migrations that create the tables of a module's entities, and notes about them. */
export interface EntityVersions {
  readonly versions: readonly NextVersion[]
  /** The files that already create the other tables. */
  readonly createdBefore: readonly string[]
  readonly notes: readonly string[]
}

/**
 * Returns a migration for each table that no file in the folder creates.
 * @throws {Failure} if the module is unusable.
 */
export async function entityVersions(
  module: string,
  description: string,
  folder: string,
  dialect: Dialect | undefined,
  command: CommandLine,
): Promise<EntityVersions> {
  const { schemaComparison, tableMigrations } = await import('../../lib/persistence/index.js')
  const tables = await fromEntities(module, (exports) => {
    const found = tableMigrations(exports)
    if (found.length > 0) return found
    const { resources } = schemaComparison(exports)
    throw resources.length === 0 ? noEntities(module) : noneToMake(module)
  })
  const created = await createdIn(folder, dialect, tables, command)
  const wanted = tables.filter(({ table }) => !created.has(table))
  const createdBefore = tables
    .filter(({ table }) => created.has(table))
    .map(({ table }) => `${table} is already created by ${created.get(table) ?? ''}`)
  return {
    versions: wanted.map(({ table, sqlFor }) => ({
      description: tables.length === 1 ? description : `${description}_${asWord(table)}`,
      sqlFor,
    })),
    createdBefore,
    notes: wanted.flatMap(({ notes }) => notes),
  }
}

/** Maps each table to the migration that creates it, for any engine. */
async function createdIn(
  folder: string,
  dialect: Dialect | undefined,
  tables: readonly TableMigration[],
  command: CommandLine,
): Promise<ReadonlyMap<string, string>> {
  const { createdTables } = await import('../../lib/migrations/index.js')
  const found = new Map<string, string>()
  for (const one of foldersOf(folder, dialect)) {
    const names = tables.map(({ sqlFor }) => nameOf(sqlFor(one.dialect).table))
    const files = existsSync(one.folder) ? one.folder : {}
    const created = await attempt(() => createdTables(files, one.dialect, names), { command })
    for (const [index, { table }] of tables.entries()) {
      const version = created.get(names[index] ?? '')
      if (version !== undefined && !found.has(table)) found.set(table, version)
    }
  }
  return found
}

const nameOf = ({ schema, name }: TableSql['table']): string =>
  schema === undefined ? name : `${schema}.${name}`

const asWord = (table: string): string =>
  table
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '')
