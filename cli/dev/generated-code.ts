import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { parse } from 'yaml'
import { bufOf } from '../proto/buf.js'
import { runTool } from '../proto/project-tool.js'
import { protoError, type SourceError } from './source-error.js'

export interface GeneratedCode {
  readonly errors: readonly SourceError[]
  /**
   * Files that were added, changed or removed. Other files are not written, so that the compiler does not
   * process them again.
   */
  readonly changed: readonly string[]
}

/**
 * Generates code as configured in buf.gen.yaml and writes the files that differ. If there are errors, nothing
 * is written.
 */
export async function generatedCode(folder: string): Promise<GeneratedCode> {
  const draft = mkdtempSync(join(tmpdir(), 'ashlar-dev-'))
  try {
    const { exit, stderr } = await runTool(bufOf(folder), ['generate', '--output', draft], folder)
    if (exit !== 0) return { errors: errorsIn(stderr), changed: [] }
    const made = filesIn(draft)
    const changed = made.filter((path) => isChanged(join(draft, path), join(folder, path)))
    for (const path of changed) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), readFileSync(join(draft, path)))
    }
    const kept = new Set(made)
    const gone = cleanedFolders(folder)
      .flatMap((out) => filesIn(join(folder, out)).map((path) => join(out, path)))
      .filter((path) => !kept.has(path))
    for (const path of gone) rmSync(join(folder, path))
    return { errors: [], changed: [...changed, ...gone] }
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

function errorsIn(stderr: string): readonly SourceError[] {
  const lines = stderr.trim().split('\n')
  const found = lines.flatMap((line) => protoError(line) ?? [])
  return found.length > 0
    ? found
    : [{ path: 'buf.gen.yaml', line: 1, column: 1, message: lines.slice(0, 3).join(' ') }]
}

const filesIn = (folder: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    : []

const isChanged = (from: string, to: string): boolean =>
  !existsSync(to) || !readFileSync(from).equals(readFileSync(to))

/** Returns the folders that buf empties before it writes, because buf.gen.yaml contains `clean: true`. */
function cleanedFolders(folder: string): readonly string[] {
  const file = join(folder, 'buf.gen.yaml')
  const config = (existsSync(file) ? parse(readFileSync(file, 'utf8')) : {}) as {
    readonly clean?: boolean
    readonly plugins?: readonly { readonly out?: string }[]
  }
  if (config.clean !== true) return []
  const outs = (config.plugins ?? []).flatMap(({ out }) => (out === undefined ? [] : [out]))
  return [...new Set(outs)].filter((out) => !relative(folder, join(folder, out)).startsWith('..'))
}
