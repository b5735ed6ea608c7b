import { expect } from 'chai'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { type Block, blocksOf, examplesOf, pages, textOf } from './support/sources/documents.js'
import { packageJson } from '../cli/new/package-json.js'
import * as decorators from '../decorators/index.js'
import { decoratorProblems } from '../lib/resource/decorator-options.js'
import { problemsOf } from './support/sources/compiled-blocks.js'
import { root } from './support/root.js'
import { projectFiles } from './support/sources/source-files.js'

const blocks = pages().flatMap(blocksOf)
const examples = ['lib', 'decorators'].flatMap((folder) => projectFiles(folder)).flatMap(examplesOf)

/** What the compiler says of all of them, compiled once. */
let compiledBlocks: Readonly<Record<'pages' | 'examples' | 'broken', readonly string[]>>
before(() => {
  const block = examples.find(({ text }) => text.includes('memoryRepositoryOf'))!
  const broken = { ...block, text: block.text.replace('(Widget)', '(Wodget)') }
  const isCode = ({ language }: Block) => language === 'ts'
  compiledBlocks = problemsOf({ pages: blocks.filter(isCode), examples, broken: [broken] })
})

describe('README.md and docs', () => {
  it('compiles in every ts block', () => {
    expect(blocks.filter(({ language }) => language === 'ts').length).to.be.above(50)
    expect(compiledBlocks.pages).to.deep.equal([])
  })

  it('names only options of our decorators that there are, also inside of a line', () => {
    const samples = pages().flatMap((page) =>
      [...textOf(page).matchAll(/`[^`\n]*?@([A-Z]\w+)\((\{[^`\n]*?\})\)[^`\n]*`/g)].map(
        ([, name = '', options = '']) => ({ page, name, options }),
      ),
    )
    expect(samples.length).to.be.above(10)
    const wrong = samples.flatMap(({ page, name, options }) => {
      if (!(name in decorators)) return []
      const { statements } = ts.createSourceFile('sample.ts', `(${options})`, ts.ScriptTarget.ES2022)
      const [statement] = statements
      const object = statement as ts.ExpressionStatement
      const { properties } = (object.expression as ts.ParenthesizedExpression)
        .expression as ts.ObjectLiteralExpression
      const given = Object.fromEntries(properties.map((one) => [(one.name as ts.Identifier).text, 'x']))
      return decoratorProblems([{ decorator: name, property: undefined, given: [given] }])
        .filter(({ text }) => /no options?\b/.test(text))
        .map(({ text }) => `${page}: ${text}`)
    })
    expect(wrong).to.deep.equal([])
  })

  it('names only scripts that package.json has', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>
    }
    const written = packageJson({
      name: 'shop',
      database: 'postgres',
      authentication: 'dev-login',
      nest: false,
    })
    const ofProject = (JSON.parse(written) as { scripts: Record<string, string> }).scripts
    const named = pages().flatMap((page) =>
      [...textOf(page).matchAll(/npm (?:run ([\w:-]+)|(test)\b)/g)].map(([, run, test]) => ({
        page,
        name: run ?? test ?? '',
      })),
    )
    // Of a project of `ashlar new`. All pages but the first guide have those of this repository, too.
    const isThere = ({ page, name }: { page: string; name: string }) =>
      (/(^README|guides\/(getting-started|sign-in)|reference\/(?:search-)?migrations)\.md$/.test(page) &&
        name in ofProject) ||
      (!page.endsWith('guides/getting-started.md') && name in scripts)
    expect(named.filter((one) => !isThere(one))).to.deep.equal([])
  })

  it('names only commands that the command line has', () => {
    const lines = blocks
      .filter(({ language }) => language === 'sh')
      .flatMap(({ page, text }) => text.split('\n').map((line) => ({ page, line })))
    const wrong = lines.filter(({ line }) => {
      const [, program, rest = ''] = /^(?:\$ )?(?:npx )?(ashlar|idp) ([^#|>]*)/.exec(line) ?? []
      if (program === undefined) return false
      const words = [...(program === 'idp' ? ['idp'] : []), ...rest.split(/\s+/).filter(Boolean)]
      const verbs = words.slice(0, words.findIndex((word) => word.startsWith('-')) >>> 0)
      return verbs.length > 0 && !isCommand(verbs)
    })
    expect(wrong.map(({ page, line }) => `${page}: ${line}`)).to.deep.equal([])
  })

  it('links only to files and headings that exist', () => {
    const wrong = pages().flatMap((page) =>
      [...textOf(page).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(#[^)\s]*)?\)/g)]
        .filter(([, path = '', heading]) => !linkHolds(page, path, heading))
        .map(([link]) => `${page}: ${link}`),
    )
    expect(wrong).to.deep.equal([])
  })
})

describe('the examples of doc comments', () => {
  it('compile', () => {
    expect(examples.length).to.be.at.least(20)
    expect(compiledBlocks.examples).to.deep.equal([])
  })

  it('are found, and one that does not compile is told', () => {
    expect(compiledBlocks.broken).to.have.length(1)
    expect(compiledBlocks.broken[0]).to.match(/^lib\/\S+\.ts:\d+ .*Wodget/)
  })
})

/** A command may be followed by its arguments. */
function isCommand(words: readonly string[]): boolean {
  return words.some((_, count) => {
    const path = join(root, 'cli', 'commands', ...words.slice(0, count + 1))
    return (
      existsSync(`${path}.ts`) ||
      (count === words.length - 1 && existsSync(path) && readdirSync(path).length > 0)
    )
  })
}

function linkHolds(page: string, path: string, heading: string | undefined): boolean {
  const target = path === '' ? page : join(page, '..', path)
  if (!existsSync(join(root, target))) return false
  if (heading === undefined || !target.endsWith('.md')) return true
  const anchors = [...textOf(target).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  )
  return anchors.includes(heading.slice(1))
}
