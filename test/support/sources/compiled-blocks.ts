import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compiledWith } from '../projects/compiled-project.js'
import { compiled, root } from '../root.js'
import type { Block } from './documents.js'

const EXAMPLES = join(compiled, 'examples')

/**
 * Returns the compiler errors in the code blocks of each group, from one run of the compiler. The blocks of a
 * page, and all examples of doc comments, are files in a folder next to the declarations of examples/widgets.
 * A block whose first line is `// name.ts` replaces that file, and the other blocks of the page can import
 * it.
 */
export function problemsOf<G extends string>(
  groups: Readonly<Record<G, readonly Block[]>>,
): Readonly<Record<G, readonly string[]>> {
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-blocks-'))
  try {
    const places = Object.entries<readonly Block[]>(groups).flatMap(([group, blocks]) =>
      blocks.map((block) => {
        const page = block.page.endsWith('.ts') ? 'examples' : seriesOf(block.page).replaceAll(/\W/g, '-')
        const file = block.file ?? `${block.page.replaceAll(/\W/g, '-')}-${block.line}.ts`
        return { group, block, folder: `dist/${group}/${page}`, file }
      }),
    )
    layOut(folder, Object.keys(groups))
    for (const place of new Set(places.map(({ folder }) => folder))) {
      const own = places.filter(({ folder }) => folder === place)
      linkWidgets(
        join(folder, place),
        own.map(({ file }) => file),
      )
      for (const { file, block } of own) writeFileSync(join(folder, place, file), `${block.text}\nexport {}`)
    }
    const said = compiledWith(folder, options(), ['dist/*/*/*.ts']).filter((line) => !line.startsWith(' '))
    const found = Object.fromEntries(Object.keys(groups).map((group): [string, string[]] => [group, []]))
    for (const line of said) {
      const [, path = '', at = '1', problem = line] = /^(.*?)\((\d+),\d+\): (.*)$/.exec(line) ?? []
      const place = places.find(({ folder, file }) => `${folder}/${file}` === path)
      if (place === undefined) throw new TypeError(`the compiler says ${line}`)
      const { group, block } = place
      found[group]?.push(`${block.page}:${block.line + Number(at)} ${problem}`)
    }
    return found as Record<G, string[]>
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns the series of a page. Pages that build one example together can import each other's files. */
const seriesOf = (page: string): string => page.replace(/(?:delivering|consuming|operating)-(events)/, '$1')

/**
 * Creates a folder with the layout of the package, so that the package name and relative paths lead to the
 * same declarations. The other examples are next to it.
 */
function layOut(folder: string, groups: readonly string[]): void {
  mkdirSync(join(folder, 'dist'))
  for (const group of groups) {
    mkdirSync(join(folder, 'dist', group))
    for (const { name } of readdirSync(EXAMPLES, { withFileTypes: true }).filter((one) => one.isDirectory()))
      symlinkSync(join(EXAMPLES, name), join(folder, 'dist', group, name))
  }
  for (const name of ['lib', 'decorators']) symlinkSync(join(compiled, name), join(folder, 'dist', name))
  for (const name of ['package.json', 'node_modules']) symlinkSync(join(root, name), join(folder, name))
}

/** Links the files of the example that blocks can import, except the files that blocks replace. */
function linkWidgets(folder: string, own: readonly string[]): void {
  mkdirSync(folder, { recursive: true })
  const widgets = join(EXAMPLES, 'widgets')
  for (const name of readdirSync(widgets))
    if (name === 'gen' || (name.endsWith('.d.ts') && !own.includes(name.replace('.d.ts', '.ts'))))
      symlinkSync(join(widgets, name), join(folder, name))
}

/** Returns the compiler options of this project. Unused names are allowed in blocks. */
const options = (): Readonly<Record<string, unknown>> => {
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as {
    readonly compilerOptions: Readonly<Record<string, unknown>>
  }
  const { outDir: _, tsBuildInfoFile: __, ...others } = compilerOptions
  return {
    ...others,
    noEmit: true,
    incremental: false,
    noUnusedLocals: false,
    noUnusedParameters: false,
    preserveSymlinks: true,
  }
}
