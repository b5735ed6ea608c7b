import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Exports, importedModule } from '../../lib/files/imported-module.js'
import { Failure } from '../errors/failure.js'

let loaded = false

/** Returns true if a user's module was loaded. Its pools, timers and watches may keep the process alive. */
export const foreignModuleLoaded = (): boolean => loaded

/**
 * Returns the exports of a compiled module that the command line names.
 * @throws Failure if the file does not exist, or if loading it fails.
 */
export async function foreignModule(module: string): Promise<Exports> {
  const path = resolve(module)
  const file = statSync(path, { throwIfNoEntry: false })
  const unfit = (reason: string, cause?: unknown) =>
    new Failure('input', `${module} cannot be loaded: ${reason}`, { cause })
  const isSource = /\.[mc]?ts$/.test(module)
  if (file === undefined)
    throw unfit(
      `there is no such file; ${isSource ? 'name the compiled file' : 'compile it, or name another'}`,
    )
  if (file.isDirectory())
    throw unfit(`it is a folder; name a compiled file in it, such as ${module}/index.js`)
  loaded = true
  try {
    return await importedModule(path)
  } catch (error) {
    throw unfit(`${textOf(error)}${isSource ? '; name the compiled file' : ''}`, error)
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
