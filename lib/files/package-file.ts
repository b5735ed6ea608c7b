import { existsSync, readFileSync } from 'node:fs'

let root: URL | undefined

/**
 * Returns the URL of a file or folder of this package, wherever this code was compiled or bundled to.
 * @throws TypeError if this code is in an application's bundle, which does not contain the file.
 */
export const packageFile = (path: string): URL =>
  new URL(path, (root ??= rootAbove(new URL('.', import.meta.url))))

function rootAbove(folder: URL): URL {
  const manifest = new URL('package.json', folder)
  if (existsSync(manifest)) {
    const { name } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly name?: string }
    if (name === 'ashlar') return folder
    // A package.json without a name only declares the module format of a folder.
    if (name !== undefined) throw new TypeError(`the package ${name} was bundled without the files of ashlar`)
  }
  const above = new URL('..', folder)
  if (above.href === folder.href) throw new TypeError('ashlar was bundled without its files')
  return rootAbove(above)
}
