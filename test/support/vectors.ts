import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './root.js'
import { leftOut } from './summary.js'

const folder = join(dirname(root), 'shared', 'vectors')

/** A whole vector file, or undefined (and a line in the summary) where the folder beside the repository is absent. */
export function vectorFile<File = Record<string, unknown>>(name: string): File | undefined {
  const path = join(folder, `${name}.json`)
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')) as File
  leftOut(`vectors ${name}`, 'the folder of public vectors is not beside the repository')
  return undefined
}

/** The rows of a vector file such as `crypto-aes-256-gcm`; undefined as in {@link vectorFile}. */
export const vectors = <Row = Record<string, unknown>>(name: string): readonly Row[] | undefined =>
  vectorFile<{ readonly rows: readonly Row[] }>(name)?.rows
