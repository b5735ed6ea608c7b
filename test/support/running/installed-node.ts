import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A version of Node.js that was installed from the npm registry. */
export interface InstalledNode {
  /** The path of the program. */
  readonly node: string
  /** The folder that contains `include/node`. */
  readonly headers: string
  /** The version, such as `v22.22.3`. */
  readonly name: string
}

/**
 * Installs a version of Node.js into a folder. The package `node` contains the program and a nested package
 * for this platform, which contains the headers.
 * @throws TypeError if the version cannot be installed.
 */
export function installNode(version: string, folder: string): InstalledNode {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, allowScripts: { node: true } }))
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund', `node@${version}`], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const node = join(folder, 'node_modules', 'node', 'bin', 'node')
  if (status !== 0 || !existsSync(node)) throw new TypeError(`node@${version} cannot be installed`)
  const kind = `node-${process.platform}-${process.arch}`
  const places = [
    join(folder, 'node_modules', 'node', 'node_modules', kind),
    join(folder, 'node_modules', kind),
  ]
  const headers = places.find((place) => existsSync(join(place, 'include', 'node', 'node.h')))
  if (headers === undefined) throw new TypeError(`node@${version} brings no headers for ${kind}`)
  const name = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()
  return { node, headers, name }
}
