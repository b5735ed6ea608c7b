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
 * What the compiler says against the blocks of each group, in one run. The blocks of a page, and all examples
 * of doc comments, are files of a folder beside the declarations of examples/widgets. One whose first line is
 * `// name.ts` stands in for that file, and can be imported by the other blocks of the page.
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

/** Pages that build one example together can import each other's files. */
const seriesOf = (page: string): string => page.replace(/(?:delivering|consuming|operating)-(events)/, '$1')

/**
 * The folder stands for that of the package, so that its name leads to the same declarations as a relative
 * path. The other examples are beside.
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

/** What a block can import of the example, but for what stands in for it. */
function linkWidgets(folder: string, own: readonly string[]): void {
  mkdirSync(folder, { recursive: true })
  const widgets = join(EXAMPLES, 'widgets')
  for (const name of readdirSync(widgets))
    if (name === 'gen' || (name.endsWith('.d.ts') && !own.includes(name.replace('.d.ts', '.ts'))))
      symlinkSync(join(widgets, name), join(folder, name))
}

/** The options of this project. Blocks may name what they do not use. */
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
