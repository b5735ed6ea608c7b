import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../../lib/files/package-file.js'

/**
 * Templates are in the source folder, because they are not compiled and the package contains them unchanged.
 */
const FOLDER = fileURLToPath(packageFile('cli/new/templates/'))
/**
 * The suffix of templates. It hides them from compilers and from npm, which gives `.gitignore` a special
 * meaning.
 */
const SUFFIX = '.tmpl'

/** Returns the files of the layers by path. A later layer replaces files of earlier ones. */
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

/**
 * Replaces `{{word}}` in a template.
 * @throws TypeError for a word without a value.
 */
export function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{\{(\w+)\}\}/g, (_, word: string) => {
    const value = values[word]
    if (value === undefined) throw new TypeError(`the template has no value for ${word}`)
    return value.replace(/\n$/, '')
  })
}
