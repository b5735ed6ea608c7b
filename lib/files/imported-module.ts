import { createRequire } from 'node:module'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The exports of a module, by name. */
export type Exports = Readonly<Record<string, unknown>>

/**
 * Loads a module of the application. It is imported, or required if only `require` can load it, as under Jest
 * and ts-node. A module that was compiled to CommonJS has the exports of its source.
 * @param edition - distinguishes versions of a file that changes while the process runs.
 * @throws the error of the module.
 */
export async function importedModule(path: string, edition?: string): Promise<Exports> {
  const required = createRequire(import.meta.url)
  const full = resolve(path)
  // CommonJS caches a module by its path, whatever the edition.
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

/** The error code of a script that runs in Node's `vm`, such as under Jest, and cannot import. */
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
