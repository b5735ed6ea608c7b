import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../root.js'
import { blocksOf } from './documents.js'

/**
 * Returns the widgets example as a user would write it, by file below `src`. It imports the packages by name,
 * and the blocks of the installation page replace the files that they name.
 */
export function widgetSources(): ReadonlyMap<string, string> {
  const folder = join(root, 'examples/widgets')
  const sources = new Map<string, string>()
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    if (file.endsWith('.ts')) sources.set(file, asUser(readFileSync(join(folder, file), 'utf8')))
  for (const { file, text, language } of blocksOf('docs/guides/installing.md'))
    if (language === 'ts' && file !== undefined) sources.set(file, asUser(text))
  return sources
}

/** Returns the source or JavaScript of an example with package names in place of relative paths. */
export const asUser = (text: string): string =>
  text
    .replaceAll(/'(\.\.\/)+lib\/index\.js'/g, "'ashlar'")
    .replaceAll(/'(\.\.\/)+lib\/(\w+)\/index\.js'/g, "'ashlar/$2'")
    .replaceAll(/'(\.\.\/)+decorators\/[\w-]+\.js'/g, "'ashlar/decorators'")
