import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { asUser } from '../sources/widget-sources.js'
import { compiled, root } from '../root.js'
import { type Packed, packedInto, run } from './packed-package.js'

/**
 * Creates a project below a folder with the packed packages, the compiled examples which import it by its
 * name, and `others` of `dist`. It also contains the installed dependencies and the packages in `peers`.
 * Returns the folder of the project.
 */
export function packedProject(
  folder: string,
  peers: readonly string[],
  others: readonly string[] = [],
): string {
  const project = join(folder, 'project')
  unpackedInto(project, folder, Object.values(packedInto(folder)), peers)
  writeFileSync(join(project, 'package.json'), '{ "name": "consumer", "private": true, "type": "module" }')
  for (const path of ['examples', ...others]) copyAsUser(join(compiled, path), join(project, 'dist', path))
  for (const example of ['widgets', 'orders'])
    cpSync(join(root, 'examples', example, 'migrations'), join(project, 'examples', example, 'migrations'), {
      recursive: true,
    })
  return project
}

function copyAsUser(from: string, to: string): void {
  if (from.endsWith('.js')) {
    mkdirSync(dirname(to), { recursive: true })
    writeFileSync(to, asUser(readFileSync(from, 'utf8')))
    return
  }
  for (const path of readdirSync(from, { recursive: true, encoding: 'utf8' }))
    if (path.endsWith('.js')) copyAsUser(join(from, path), join(to, path))
}

/**
 * Installs packed packages into the `node_modules` of a project, with their dependencies and the packages in
 * `peers`. No other package can be found. @param folder - the folder of the packed files.
 */
export function unpackedInto(
  project: string,
  folder: string,
  packed: readonly Packed[],
  peers: readonly string[],
): void {
  const modules = join(project, 'node_modules')
  mkdirSync(join(modules, '.bin'), { recursive: true })
  for (const { name, filename } of packed) {
    mkdirSync(join(modules, name), { recursive: true })
    run(join(modules, name), 'tar', '-xzf', join(folder, filename), '--strip-components=1')
  }
  const { bin, dependencies } = JSON.parse(readFileSync(join(modules, 'ashlar/package.json'), 'utf8')) as {
    readonly bin: Readonly<Record<string, string>>
    readonly dependencies: Readonly<Record<string, string>>
  }
  for (const [name, path] of Object.entries(bin))
    symlinkSync(join('../ashlar', path), join(modules, '.bin', name))
  for (const name of [...Object.keys(dependencies), ...peers]) {
    if (name === 'ashlar-annotations') continue
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
}
