import { createRequire } from 'node:module'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The exports of a module, by name. */
export type Exports = Readonly<Record<string, unknown>>

/**
 * Loads a module of the application. It is imported, or required where only `require` can load it: Jest and
 * ts-node teach nothing else. What a compiler has made CommonJS of has the exports of its source.
 * @param edition - distinguishes the texts of a file that changes while the process runs.
 * @throws what loading it throws.
 */
export async function importedModule(path: string, edition?: string): Promise<Exports> {
  const required = createRequire(import.meta.url)
  const full = resolve(path)
  // CommonJS is kept by its path, whatever the edition.
  if (edition !== undefined) delete required.cache[required.resolve(full)]
  try {
    const query = edition === undefined ? '' : `?${edition}`
    return ofSource((await import(`${pathToFileURL(full).href}${query}`)) as Exports)
  } catch (error) {
    if (!needsRequire(error, full, required)) throw error
    const all: unknown = required(full)
    return typeof all === 'object' && all !== null && 'default' in all ? (all as Exports) : { default: all }
  }
}

/**
 * Returns the exports of a module. `import` returns those of compiled CommonJS as one default export, and
 * often not by name.
 */
const ofSource = (module: Exports): Exports => {
  const whole = module['default'] as Exports | null | undefined
  return typeof whole === 'object' && whole?.['__esModule'] === true ? whole : module
}

/** The code of a script of Node's `vm`, such as one of Jest, cannot import. */
const NO_IMPORT = 'ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING_FLAG'
const NO_TYPESCRIPT: ReadonlySet<unknown> = new Set([
  'ERR_UNKNOWN_FILE_EXTENSION',
  'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX',
])

function needsRequire(error: unknown, path: string, required: NodeJS.Require): boolean {
  const { code } = error as NodeJS.ErrnoException
  if (code === NO_IMPORT) return true
  return NO_TYPESCRIPT.has(code) && Object.hasOwn(required.extensions, extname(path))
}
