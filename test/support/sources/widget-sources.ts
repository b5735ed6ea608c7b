import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../root.js'
import { blocksOf } from './documents.js'

/**
 * The example of widgets as a user would write it, file by file below `src`: with the names of the package,
 * and the blocks of the page about installing in place of the files that they name.
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

/** Source or JavaScript of an example with the names of the package in the place of paths. */
export const asUser = (text: string): string =>
  text
    .replaceAll(/'(\.\.\/)+lib\/index\.js'/g, "'ashlar'")
    .replaceAll(/'(\.\.\/)+lib\/(\w+)\/index\.js'/g, "'ashlar/$2'")
    .replaceAll(/'(\.\.\/)+decorators\/[\w-]+\.js'/g, "'ashlar/decorators'")
