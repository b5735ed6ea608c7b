import { Failure } from '../errors/failure.js'
import { applyFiles, type FileChanges, GENERATED, readFiles } from './file-changes.js'

export interface SyncOptions {
  readonly from: string
  readonly to: string
  readonly check: boolean
}

/**
 * Copies generated files byte for byte, and removes nothing. It never replaces a file with another text, because that
 * file may have been applied.
 * @throws Failure
 */
export function syncSearch({ from, to, check }: SyncOptions): FileChanges {
  const generated = readFiles(from, GENERATED, true)
  const present = readFiles(to, /\.sql$/)
  const edited = Object.keys(generated).filter((name) => name in present && present[name] !== generated[name])
  if (edited.length > 0 && !check)
    throw new Failure(
      'differs',
      `${edited.join(', ')}: ${to} has another text under this name, and an applied file is never edited; generate again with --migrations ${to}`,
    )
  return applyFiles(to, generated, [], check)
}
