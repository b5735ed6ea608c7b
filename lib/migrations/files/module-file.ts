import { createHash } from 'node:crypto'
import { pathToFileURL } from 'node:url'
import { DeclarationError } from '../../errors.js'
import { RowBackfill } from './row-backfill.js'

/** A version whose way up is code. */
export const MODULE_FILE = /\.up\.m?[jt]s$/

/** A backfill and the text that it was loaded from. */
export interface LoadedBackfill {
  readonly backfill: RowBackfill
  readonly source: string
}

/** @throws {DeclarationError} for a file that cannot be loaded, or that exports no backfill. */
export async function loadBackfill(path: string, name: string, source: string): Promise<LoadedBackfill> {
  // A process that reads an edited file again must not get what it was before.
  const edition = createHash('sha256').update(source).digest('hex').slice(0, 16)
  let module: { readonly default?: unknown }
  try {
    module = (await import(`${pathToFileURL(path).href}?${edition}`)) as { readonly default?: unknown }
  } catch (error) {
    throw new DeclarationError('migrations', [`${name}: ${loadingProblem(error)}`])
  }
  if (module.default instanceof RowBackfill) return { backfill: module.default, source }
  const found =
    module.default === undefined
      ? 'has no default export'
      : 'its default export is no backfill, or one of another copy of ashlar'
  throw new DeclarationError('migrations', [`${name}: ${found}: ${EXPECTED}`])
}

const EXPECTED =
  "write import { backfill } from 'ashlar/migrations', and export default backfill({ table, reads, sets, row })"

function loadingProblem(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION')
    return `this Node.js (${process.version}) loads no TypeScript: use 22.18 or later, or ship the compiled file`
  const why = error instanceof Error ? error.message : String(error)
  if (code === 'ERR_MODULE_NOT_FOUND')
    return `cannot be loaded: ${why}: install what it imports where the file finds it, such as with npm install in a folder above`
  return `cannot be loaded: ${why}: run it with node to see the line, and ${EXPECTED}`
}
