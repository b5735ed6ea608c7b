import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFiles } from './source-files.js'
import { root } from '../root.js'

/** A code block of a page. `line` is its first line. `file` is the name in its first line, `// name.ts`. */
export interface Block {
  readonly page: string
  readonly line: number
  readonly language: string
  readonly text: string
  readonly file: string | undefined
}

/** Returns the paths of README.md and the pages in docs/. */
export const pages = (): readonly string[] => [
  ...(existsSync(join(root, 'README.md')) ? ['README.md'] : []),
  ...projectFiles('docs').filter((path) => path.endsWith('.md')),
]

export const textOf = (page: string): string => readFileSync(join(root, page), 'utf8')

export const blocksOf = (page: string): readonly Block[] => blocksIn(page, textOf(page))

/** Returns the code blocks below each `@example` in the doc comments of a source file. */
export const examplesOf = (path: string): readonly Block[] =>
  blocksIn(
    path,
    textOf(path)
      .replaceAll(/^(?! *\* ?).*$/gm, '')
      .replaceAll(/^ *\* ?/gm, ''),
  ).filter(({ language }) => language === 'ts')

function blocksIn(page: string, text: string): readonly Block[] {
  const blocks: Block[] = []
  let open: { line: number; language: string; lines: string[] } | undefined
  for (const [index, line] of text.split('\n').entries()) {
    const fence = /^\s*```(\w*)/.exec(line)
    if (fence === null) open?.lines.push(line)
    else if (open === undefined) open = { line: index + 1, language: fence[1] ?? '', lines: [] }
    else {
      const { language, lines } = open
      blocks.push({
        page,
        line: open.line,
        language,
        text: lines.join('\n'),
        file: /^\/\/ ([\w./-]+\.ts)$/.exec(lines[0] ?? '')?.[1],
      })
      open = undefined
    }
  }
  return blocks
}
