import { fromEntities, noEntities } from '../loading/entities.js'
import { applyFiles, type FileChanges, GENERATED, readFiles } from './file-changes.js'

export interface GenerateOptions {
  /** The compiled module whose exports are the entities. */
  readonly entities: string
  readonly out: string
  /** The committed files; they show which numbers are taken. */
  readonly migrations: string
  readonly check: boolean
}

export interface Generated extends FileChanges {
  /** The tables with INDEXED search. */
  readonly tables: readonly string[]
}

/**
 * Writes the migrations of INDEXED search. Committed files keep their bytes. A generated file that is no longer needed
 * is removed from `out`, unless it is committed.
 */
export async function generateSearch({
  entities,
  out,
  migrations,
  check,
}: GenerateOptions): Promise<Generated> {
  const tables = await tablesOf(entities)
  const { searchMigrations } = await import('../../lib/migrations/index.js')
  const committed = readFiles(migrations, /\.sql$/)
  const wanted = searchMigrations(tables, committed)
  const unwanted = Object.keys(readFiles(out, GENERATED)).filter(
    (name) => !(name in wanted) && !(name in committed),
  )
  return { ...applyFiles(out, wanted, unwanted, check), tables: tables.map(({ table }) => table) }
}

async function tablesOf(entities: string) {
  const { searchTables } = await import('../../lib/persistence/index.js')
  const found = await fromEntities(entities, searchTables)
  if (found.resources === 0) throw noEntities(entities)
  return found.tables
}
