import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../root.js'
import { cannotBeHad } from '../running/summary.js'

const folder = process.env.ASHLAR_TEST_VECTORS ?? join(dirname(root), 'shared', 'vectors')

/**
 * Reads a vector file. Returns undefined if the folder next to the repository does not exist. The summary of
 * the run then reports it, and the run fails if `CI` is set.
 */
export function vectorFile<File = Record<string, unknown>>(name: string): File | undefined {
  const path = join(folder, `${name}.json`)
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')) as File
  cannotBeHad(
    `the public vectors ${name}`,
    'there is no such file in shared/vectors beside the repository; ASHLAR_TEST_VECTORS names another folder',
  )
  return undefined
}

/**
 * Reads the rows of a vector file such as `crypto-aes-256-gcm`. Returns undefined as {@link vectorFile} does.
 */
export const vectors = <Row = Record<string, unknown>>(name: string): readonly Row[] | undefined =>
  vectorFile<{ readonly rows: readonly Row[] }>(name)?.rows
