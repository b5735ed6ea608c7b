import type { Dialect } from './dialect.js'
import { type FileSource, readMigrations } from './files.js'
import { splitStatements } from './sql-statements.js'
import { createTable, dropped } from './statement-shape.js'

/**
 * The tables that are there once a module's files are applied, each with the version that creates it (`0002_widgets`). Tables
 * of routines and `DO` blocks are not seen.
 * @throws {DeclarationError} with every misnamed, missing, doubled or misplaced file.
 */
export async function createdTables(
  files: FileSource,
  dialect: Dialect,
): Promise<ReadonlyMap<string, string>> {
  const tables = new Map<string, string>()
  for (const { name, up } of await readMigrations(files, dialect))
    for (const statement of splitStatements(up, dialect).statements) {
      const created = createTable(statement)
      if (created !== undefined && !created.isTemporary) tables.set(withoutSchema(created.table), name)
      const drop = dropped(statement)
      if (drop?.what === 'TABLE') for (const table of drop.names) tables.delete(withoutSchema(table))
    }
  return tables
}

const withoutSchema = (name: string): string => name.slice(name.lastIndexOf('.') + 1)
