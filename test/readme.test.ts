import { expect } from 'chai'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { type Block, blocksOf, examplesOf, pages, textOf } from './support/sources/documents.js'
import { packageJson } from '../cli/new/package-json.js'
import * as decorators from '../decorators/index.js'
import { decoratorProblems } from '../lib/resource/decorator-options.js'
import { root } from './support/root.js'
import { projectFiles } from './support/sources/source-files.js'

describe('README.md and docs', () => {
  const blocks = pages().flatMap(blocksOf)

  it('begins with the two commands', () => {
    const first = blocks.find(({ page, language }) => page === 'README.md' && language === 'sh')
    expect(blocksOf('README.md').some(({ language }) => language === 'ts')).to.equal(true)
    expect(blocksOf('README.md').flatMap(({ text }) => text.split('\n'))).to.include.members([
      'npm ci && npm run demo',
      'npm ci && npm test',
    ])
    expect(first).to.not.equal(undefined)
  })

  it('compiles in every ts block', function () {
    this.timeout(120_000)
    expect(problemsOf(blocks.filter(({ language }) => language === 'ts'))).to.deep.equal([])
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
        .filter((problem) => /no options?\b/.test(problem))
        .map((problem) => `${page}: ${problem}`)
    })
    expect(wrong).to.deep.equal([])
  })

  it('names only scripts that package.json has', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>
    }
    const written = packageJson({ name: 'shop', database: 'sqlite', authentication: 'headers', nest: false })
    const ofProject = (JSON.parse(written) as { scripts: Record<string, string> }).scripts
    const named = pages().flatMap((page) =>
      [...textOf(page).matchAll(/npm (?:run ([\w:-]+)|(test)\b)/g)].map(([, run, test]) => ({
        page,
        name: run ?? test ?? '',
      })),
    )
    // That page is about a project of `ashlar new`.
    const isThere = ({ page, name }: { page: string; name: string }) =>
      name in (page.endsWith('guides/getting-started.md') ? ofProject : scripts)
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
  const examples = ['lib', 'decorators'].flatMap((folder) => projectFiles(folder)).flatMap(examplesOf)

  it('compile', function () {
    this.timeout(120_000)
    expect(examples.length).to.be.at.least(20)
    expect(problemsOf(examples)).to.deep.equal([])
  })

  it('are found, and one that does not compile is told', () => {
    const block = examples.find(({ text }) => text.includes('memoryRepositoryOf'))!
    const broken = { ...block, text: block.text.replace('(Widget)', '(Wodget)') }
    expect(problemsOf([broken])).to.have.length(1)
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

/**
 * What the compiler says against the blocks: those of a page, and all examples, are a program. They are read as files of examples/widgets, so that they find its generated
 * code; one whose first line is `// name.ts` stands in for that file and can be imported by the page's other blocks.
 */
function problemsOf(blocks: readonly Block[]): readonly string[] {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
    config: unknown
  }
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  const problems: string[] = []
  const parsed = new Map<string, ts.SourceFile | undefined>()
  const programOf = ({ page }: Block) => (page.endsWith('.ts') ? 'examples' : page)
  for (const name of new Set(blocks.map(programOf))) {
    const virtual = new Map(
      blocks
        .filter((block) => programOf(block) === name)
        .map((block) => [
          join(
            root,
            'examples/widgets',
            block.file ?? `${block.page.replaceAll(/\W/g, '-')}-${block.line}.ts`,
          ),
          block,
        ]),
    )
    const host = ts.createCompilerHost(options)
    const { fileExists, readFile, getSourceFile } = host
    host.fileExists = (path) => virtual.has(path) || fileExists(path)
    host.readFile = (path) => virtual.get(path)?.text ?? readFile(path)
    host.getSourceFile = (path, ...rest) => {
      const block = virtual.get(path)
      if (block !== undefined) return ts.createSourceFile(path, `${block.text}\nexport {}`, rest[0], true)
      if (!parsed.has(path)) parsed.set(path, getSourceFile(path, ...rest))
      return parsed.get(path)
    }
    const program = ts.createProgram(
      [...virtual.keys()],
      { ...options, noEmit: true, incremental: false, noUnusedLocals: false, noUnusedParameters: false },
      host,
    )
    for (const [path, block] of virtual)
      for (const { messageText, start } of ts.getPreEmitDiagnostics(program, program.getSourceFile(path))) {
        const line =
          block.line + 1 + (start === undefined ? 0 : block.text.slice(0, start).split('\n').length - 1)
        problems.push(`${block.page}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`)
      }
  }
  return problems
}
