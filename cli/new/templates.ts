import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../../lib/files/package-file.js'

/** Beside the sources: templates are not compiled, and the package has them as they are. */
const FOLDER = fileURLToPath(packageFile('cli/new/templates/'))
/** Keeps compilers, and npm with its own meaning of `.gitignore`, away from templates. */
const SUFFIX = '.tmpl'

/**
 * The files of the layers, from path to text. A later layer replaces what an earlier one has at the same
 * path.
 */
export function layered(layers: readonly string[]): Map<string, string> {
  const files = new Map<string, string>()
  for (const layer of layers) {
    const folder = join(FOLDER, layer)
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !entry.name.endsWith(SUFFIX)) continue
      const path = join(entry.parentPath, entry.name)
      const name = path.slice(folder.length + 1, -SUFFIX.length).replaceAll('\\', '/')
      files.set(name, readFileSync(path, 'utf8'))
    }
  }
  return files
}

/** The text with `{{word}}` replaced. @throws TypeError for a word that has no value. */
export function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{\{(\w+)\}\}/g, (_, word: string) => {
    const value = values[word]
    if (value === undefined) throw new TypeError(`the template has no value for ${word}`)
    return value.replace(/\n$/, '')
  })
}
