import { existsSync, readFileSync } from 'node:fs'

let root: URL | undefined

/**
 * A file or a folder of this package, wherever in the package this code was compiled or bundled to.
 * @throws TypeError where this code is in the bundle of an application, which does not have the file.
 */
export const packageFile = (path: string): URL =>
  new URL(path, (root ??= rootAbove(new URL('.', import.meta.url))))

function rootAbove(folder: URL): URL {
  const manifest = new URL('package.json', folder)
  if (existsSync(manifest)) {
    const { name } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly name?: string }
    if (name === 'ashlar') return folder
    // One without a name says of a folder which form its modules have.
    if (name !== undefined) throw new TypeError(`the package ${name} was bundled without the files of ashlar`)
  }
  const above = new URL('..', folder)
  if (above.href === folder.href) throw new TypeError('ashlar was bundled without its files')
  return rootAbove(above)
}
