import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { compiled, root } from '../root.js'

/** The output of `npm pack` for one package. */
export interface Packed {
  readonly name: string
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

/** Whether the compiled tests are in `dist`, so that npm packs the files under test. */
export const canPack = basename(compiled) === 'dist'

/** Copies the compiled files into a folder and bundles them as `npm publish` does. */
export function bundledInto(tree: string): void {
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly files: readonly string[]
  }
  const named = files
    .filter((path) => !path.startsWith('!'))
    .map((path) => path.replace(/\/[^/]*[*{].*$/, ''))
  for (const path of new Set([...named, 'package.json', 'README.md', 'LICENSE', 'packages/annotations']))
    if (existsSync(join(root, path)))
      cpSync(join(root, path), join(tree, path), { recursive: true, filter: isPart })
  run(root, process.execPath, 'packages/bundle.mjs', tree)
}

/**
 * Bundles the package and the annotations with {@link bundledInto} and packs them into a folder. The
 * subfolder `tree` contains the packed files and some others.
 */
export function packedInto(folder: string): Readonly<Record<'ashlar' | 'annotations', Packed>> {
  const tree = join(folder, 'tree')
  bundledInto(tree)
  const written = run(
    ...[tree, 'npm', 'pack', '--ignore-scripts', '--json', '--pack-destination', folder],
    ...['--workspaces', '--include-workspace-root'],
  )
  const all = Object.values(JSON.parse(written) as Record<string, Packed>)
  const [ashlar, annotations] = ['ashlar', 'ashlar-annotations'].map((asked) =>
    all.find(({ name }) => name === asked),
  )
  if (ashlar === undefined || annotations === undefined) throw new TypeError(`npm has packed ${written}`)
  return { ashlar, annotations }
}

const isPart = (path: string): boolean => !/[\\/](node_modules|\.vitepress|docs[\\/]dist)$/.test(path)

/** Runs a program until it exits. @returns its stdout. @throws Error with the output if the program fails. */
export function run(cwd: string, program: string, ...rest: readonly string[]): string {
  try {
    return execFileSync(program, rest, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${program} ${rest.join(' ')}\n${stdout}${stderr}`, { cause: error })
  }
}
