import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../root.js'

const folder = join(root, 'test', 'support', 'migration-tools')

/** Imports the package of another migration tool. Only tests need these packages. */
export async function toolPackage<Exports>(name: string): Promise<Exports> {
  const path = createRequire(join(folder, 'package.json')).resolve(name)
  const loaded = (await import(pathToFileURL(path).href)) as { readonly default?: object }
  return { ...loaded.default, ...loaded } as Exports
}
