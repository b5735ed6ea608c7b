import { pathToFileURL } from 'node:url'
import { packedFile } from './packed.js'

/**
 * Returns the server module named by `?server=` in a side's URL, from this folder tree or from the peers,
 * which are not part of the build. With `&packed`, returns the one that uses the package as npm would publish
 * it.
 */
export function serverOf(side: string): URL {
  const { searchParams } = new URL(side)
  const name = searchParams.get('server') ?? ''
  if (searchParams.has('packed')) return pathToFileURL(packedFile(`dist/bench/sides/${name}.js`))
  return name.endsWith('.mjs')
    ? new URL(`../../../bench/peers/${name}`, import.meta.url)
    : new URL(`../sides/${name}.js`, import.meta.url)
}
