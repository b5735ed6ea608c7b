import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DATABASES } from '../cli/new/databases.js'
import { projectFilesOf } from '../cli/new/project-files.js'
import { root } from './support/root.js'
import { projectFiles } from './support/sources/source-files.js'

/** The messages of the table of mistakes, each as the parts between the names. */
const messagesIn = (page: string): readonly (readonly string[])[] => {
  const table = /^## (?:Common mistakes|Messages)\n(.*?)^## /ms.exec(page)?.[1] ?? ''
  return [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, message = '']) =>
    message
      .split('…')
      .map((part) => part.trim())
      .filter(Boolean),
  )
}

const textsOf = (folder: string, ending: RegExp): readonly string[] =>
  projectFiles(folder)
    .filter((path) => ending.test(path) && path !== 'test/agents.test.ts')
    .map((path) => readFileSync(join(root, path), 'utf8'))

const missingFrom = (texts: readonly string[], page: string) =>
  messagesIn(page).filter((parts) => !texts.some((text) => parts.every((part) => text.includes(part))))

const projects = DATABASES.flatMap((database) =>
  [true, false].map((nest) => projectFilesOf({ name: 'shop', database, authentication: 'headers', nest })),
)

describe('AGENTS.md', () => {
  it('of the repository lists ten mistakes with messages that tests and commands print', () => {
    const page = readFileSync(join(root, 'AGENTS.md'), 'utf8')
    expect(messagesIn(page)).to.have.length(10)
    expect(missingFrom(textsOf('test', /\.ts$/), page)).to.deep.equal([])
  })

  it('of a new project lists ten mistakes with messages of the library', () => {
    const texts = [...textsOf('lib', /\.ts$/), ...textsOf('test/golden', /\.txt$/)]
    for (const files of projects) {
      const page = files.get('AGENTS.md') ?? ''
      expect(messagesIn(page)).to.have.length(10)
      expect(missingFrom(texts, page)).to.deep.equal([])
    }
  })

  it('and docs/guides/not-starting.md name messages of the library', () => {
    const page = readFileSync(join(root, 'docs/guides/not-starting.md'), 'utf8')
    expect(messagesIn(page)).to.have.length(11)
    const texts = [...textsOf('lib', /\.ts$/), ...textsOf('test/golden', /\.txt$/)]
    expect(missingFrom(texts, page)).to.deep.equal([])
  })

  it('of a new project names scripts and files of the project', () => {
    for (const files of projects) {
      const page = files.get('AGENTS.md') ?? ''
      const { scripts } = JSON.parse(files.get('package.json') ?? '') as { scripts: Record<string, string> }
      const named = [...page.matchAll(/`npm (?:run )?(build|test|dev|start)`/g)].map(([, name = '']) => name)
      expect(named.filter((name) => !(name in scripts))).to.deep.equal([])
      const paths = [...page.matchAll(/`((?:src|test|proto)\/[\w./-]+)`/g)].map(([, path = '']) => path)
      const isThere = (path: string) =>
        path === 'src/gen' || [...files.keys()].some((file) => file === path || file.startsWith(`${path}/`))
      expect(paths).to.include('src/access.ts')
      expect(paths.filter((path) => !isThere(path))).to.deep.equal([])
    }
  })

  it('reports a message that nothing prints', () => {
    const page = '## Common mistakes\n\n| `… prints this` | x |\n\n## How to check'
    expect(missingFrom(['prints that'], page)).to.deep.equal([['prints this']])
  })
})
