import { createHash } from 'node:crypto'
import { type Exports, importedModule } from '../../files/imported-module.js'
import type { FileProblem } from '../messages/file-problems.js'
import { declarationError } from '../messages/problem.js'
import { RowBackfill } from './row-backfill.js'

/** Matches a version whose up migration is code. */
export const MODULE_FILE = /\.up\.m?[jt]s$/

/** A backfill with its source text. */
export interface LoadedBackfill {
  readonly backfill: RowBackfill
  readonly source: string
}

/**
 * Loads a backfill from a module file.
 *
 * @throws {DeclarationError} if a file cannot be loaded or does not export a backfill.
 */
export async function loadBackfill(path: string, name: string, source: string): Promise<LoadedBackfill> {
  // The query string makes a process that reads an edited file again load the new code.
  const edition = createHash('sha256').update(source).digest('hex').slice(0, 16)
  let module: Exports
  try {
    module = await importedModule(path, edition)
  } catch (error) {
    throw declarationError('migrations', [loadingProblem(name, error)])
  }
  const { default: made } = module
  if (made instanceof RowBackfill) return { backfill: made, source }
  const hasDefault = made !== undefined
  throw declarationError('migrations', [{ kind: 'noBackfill', file: name, hasDefault }])
}

function loadingProblem(file: string, error: unknown): FileProblem {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION') return { kind: 'noTypeScript', file, node: process.version }
  const why = error instanceof Error ? error.message : String(error)
  return { kind: 'notLoaded', file, why, isImport: code === 'ERR_MODULE_NOT_FOUND' }
}
