import { pathToFileURL } from 'node:url'
import { packedFile } from './packed.js'

/**
 * The module that `?server=` of a side's own URL names, of this folder tree or of the peers, which are not part of the build. With `&packed`
 * it is the one that uses the package as npm would publish it.
 */
export function serverOf(side: string): URL {
  const { searchParams } = new URL(side)
  const name = searchParams.get('server') ?? ''
  if (searchParams.has('packed')) return pathToFileURL(packedFile(`dist/bench/sides/${name}.js`))
  return name.endsWith('.mjs')
    ? new URL(`../../../bench/peers/${name}`, import.meta.url)
    : new URL(`../sides/${name}.js`, import.meta.url)
}
