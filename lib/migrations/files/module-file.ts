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
  let exported: unknown
  try {
    exported = ((await import(`${pathToFileURL(path).href}?${edition}`)) as { readonly default?: unknown })
      .default
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    const isUnknown = (error as NodeJS.ErrnoException).code === 'ERR_UNKNOWN_FILE_EXTENSION'
    throw new DeclarationError('migrations', [
      isUnknown
        ? `${name}: this Node.js (${process.version}) loads no TypeScript: use 22.18 or later, or ship the compiled file`
        : `${name}: cannot be loaded: ${why}`,
    ])
  }
  if (exported instanceof RowBackfill) return { backfill: exported, source }
  throw new DeclarationError('migrations', [
    `${name}: its default export is no backfill: export default backfill({ table, reads, sets, row }), with backfill of ashlar/migrations`,
  ])
}
