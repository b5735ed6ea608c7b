import { fromEntities, noEntities } from '../loading/entities.js'
import { GENERATED_FILE } from '../../lib/migrations/files/search-migrations.js'
import { applyFiles, type FileChanges, readFiles } from './file-changes.js'

export interface GenerateOptions {
  /** The compiled module that exports the entities. */
  readonly entities: string
  readonly out: string
  /** The committed files, which determine the used numbers. */
  readonly migrations: string
  readonly check: boolean
}

export interface Generated extends FileChanges {
  /** The tables with INDEXED search. */
  readonly tables: readonly string[]
  /** True if the folder of committed files contains them as well. */
  readonly isCommitted: boolean
  /** True if that folder contains any files of search. */
  readonly hasCommitted: boolean
}

/**
 * Writes the migrations of INDEXED search. Committed files are not changed. A generated file that is no
 * longer needed is removed from `out`, unless it is committed with the same text.
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
  const unwanted = Object.entries(readFiles(out, GENERATED_FILE))
    .filter(([name, text]) => !(name in wanted) && committed[name] !== text)
    .map(([name]) => name)
  return {
    ...applyFiles(out, wanted, unwanted, check),
    tables: tables.map(({ table }) => table),
    isCommitted: Object.entries(wanted).every(([name, text]) => committed[name] === text),
    hasCommitted: Object.keys(committed).some((name) => GENERATED_FILE.test(name)),
  }
}

async function tablesOf(entities: string) {
  const { searchTables } = await import('../../lib/persistence/index.js')
  const found = await fromEntities(entities, searchTables)
  if (found.resources === 0) throw noEntities(entities)
  return found.tables
}
