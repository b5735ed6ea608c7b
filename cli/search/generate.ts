import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Failure } from '../failure.js'
import { applyFiles, type FileChanges, GENERATED, readFiles } from './file-changes.js'

export interface GenerateOptions {
  /** The compiled module whose exports are the entities. */
  readonly entities: string
  readonly out: string
  /** The committed files, which say which numbers are taken. */
  readonly migrations: string
  readonly check: boolean
}

export interface Generated extends FileChanges {
  /** The tables with INDEXED search. */
  readonly tables: readonly string[]
}

/**
 * Writes the migrations of INDEXED search. What is committed keeps its bytes; a file of ours that nothing generates any
 * more is removed from `out`, unless it is committed.
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
  const exports = await load(entities)
  const found = attempt(entities, () => searchTables(exports))
  if (found.resources === 0)
    throw new Failure(
      'input',
      `${entities} exports no class with @Resource(): name the module of the entities`,
    )
  return found.tables
}

/** An entity that does not fit together is its author's mistake. */
function attempt<T>(entities: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new Failure('input', `${entities}: ${error.message}`, { cause: error })
  }
}

async function load(entities: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(resolve(entities)).href)) as Readonly<Record<string, unknown>>
  } catch (error) {
    const advice = /\.[mc]?ts$/.test(entities) ? '; name the compiled file' : ''
    const reason = error instanceof Error ? error.message : String(error)
    throw new Failure('input', `${entities} cannot be loaded: ${reason}${advice}`, { cause: error })
  }
}
