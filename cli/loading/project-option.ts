import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { Failure } from '../errors/failure.js'

/** The flags that the `ashlar` key of a package.json can set for all commands. */
const OPTIONS = ['distribute', 'entities', 'files', 'module', 'server'] as const
type ProjectOption = (typeof OPTIONS)[number]

/**
 * Returns the value of a flag in the `ashlar` key of the nearest package.json; undefined if there is none.
 * Paths are relative to that file's folder.
 * @throws {Failure} for an invalid key.
 */
export function projectOption(name: ProjectOption): string | undefined {
  const file = nearestManifest(process.cwd())
  const options: unknown = file === undefined ? undefined : keyOf(file)
  if (file === undefined || options === undefined) return undefined
  const wrong = (what: string) =>
    new Failure('input', `the key ashlar of ${file} ${what}: it takes ${OPTIONS.join(', ')}, each a string`)
  if (typeof options !== 'object' || options === null) throw wrong('is not an object')
  for (const [key, value] of Object.entries(options)) {
    if (!(OPTIONS as readonly string[]).includes(key)) throw wrong(`has ${key}`)
    if (typeof value !== 'string' || value.trim() === '') throw wrong(`has no string for ${key}`)
  }
  const value = (options as Partial<Record<ProjectOption, string>>)[name]
  return value === undefined || name === 'module' || name === 'distribute'
    ? value
    : relative('.', join(dirname(file), value)) || '.'
}

/**
 * Returns the extension that distributes the project's tables.
 * @throws {Failure} for an unknown one.
 */
export function distributeOption(): 'citus' | undefined {
  const value = projectOption('distribute')
  if (value === undefined || value === 'citus') return value
  throw new Failure('input', `the key ashlar of package.json: distribute takes citus, not ${value}`)
}

function keyOf(file: string): unknown {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { readonly ashlar?: unknown }).ashlar
  } catch (error) {
    throw new Failure('input', `${file} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

function nearestManifest(folder: string): string | undefined {
  const file = join(folder, 'package.json')
  if (existsSync(file)) return file
  const above = resolve(folder, '..')
  return above === folder ? undefined : nearestManifest(above)
}
