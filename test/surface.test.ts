import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expectGolden } from './support/golden.js'
import { compiled, root } from './support/root.js'
import { projectFiles } from './support/sources/source-files.js'
import { type Exported, surface } from './support/sources/surface.js'

const COMMAND_LINE = 'The command line'

/** The headings of the specification, each with the entries that belong to it. */
const HEADINGS: readonly (readonly [title: string, ...entries: readonly string[]])[] = [
  ['Persistence', 'ashlar/decorators', 'ashlar/persistence', 'ashlar/events', 'ashlar/migrations'],
  ['Secrets', 'ashlar/secrets'],
  ['Server', 'ashlar/server', 'ashlar/client', 'ashlar/nest', 'ashlar/testing'],
  [COMMAND_LINE],
]
/** Nothing here uses them, and the specification promises them. */
const SPECIFIED = [
  ...['AlgoSHA384', 'DefaultPrefix', 'DefaultSecretBits', 'filterPredicate', 'parseFilter', 'parseOrderBy'],
]
/** A decorator of `ashlar/decorators`, and an error everywhere else. */
const TWOFOLD = ['Internal']
const MOST_ROOT_NAMES = 72
/** An import of this package, or of its sources in an example. */
const OWN_IMPORT =
  /import (?:type )?\{([^}]*)\} from '(?:ashlar(?:\/\w+)?|(?:\.\.\/)+(?:lib|decorators)\/[\w./-]+)'/g
/** Names that this many files import are what an application uses first. */
const IMPORTED_OFTEN = 5

describe('the public surface', () => {
  it('exports the names of the golden list, so that none comes or goes unnoticed', () => {
    const lines = HEADINGS.flatMap(([title, ...entries], at) => [
      `${at + 1}. ${title}`,
      ...surface()
        .sectionsOf('ashlar')
        .filter(({ heading }) => heading === at + 1)
        .flatMap(({ audience, exports }) => ['', `ashlar, for ${audience}`, ...linesOf(exports)]),
      ...entries.flatMap((entry) => ['', entry, ...linesOf(surface().exportsOf(entry))]),
      ...(title === COMMAND_LINE ? ['', ...commands().map((command) => `  ${command}`)] : []),
      '',
    ])
    expectGolden('surface.txt', lines.join('\n'))
  })

  it('has a heading for every entry', () => {
    const listed = HEADINGS.flatMap(([, ...entries]) => entries)
    expect([...listed, 'ashlar'].sort()).to.deep.equal([...surface().entries].sort())
  })

  it('has few names at its root, each of them below a heading and in one more entry', () => {
    const names = surface().exportsOf('ashlar')
    const elsewhere = new Set(
      surface()
        .entries.filter((entry) => entry !== 'ashlar')
        .flatMap((entry) => surface().exportsOf(entry))
        .map(({ name }) => name),
    )
    expect(names.map(({ name }) => name).filter((name) => !elsewhere.has(name))).to.deep.equal([])
    const sections = surface().sectionsOf('ashlar')
    expect(sections.filter(({ audience, heading }) => audience === '' || heading === 0)).to.deep.equal([])
    expect(sections.flatMap(({ exports }) => exports)).to.have.length(names.length)
    expect(names.length).to.be.at.most(MOST_ROOT_NAMES)
  })

  it('has an example for each name that pages, examples and new projects import most', () => {
    const counts = importCounts([
      'README.md',
      ...['docs/guides', 'examples', 'cli/new'].flatMap(projectFiles),
    ])
    const often = surface()
      .entries.flatMap((entry) => surface().exportsOf(entry))
      .filter(({ name }) => (counts.get(name) ?? 0) >= IMPORTED_OFTEN)
    expect(new Set(often.map(({ name }) => name)).size).to.be.at.least(20)
    const bare = often.filter(({ hasExample }) => !hasExample).map(({ name }) => name)
    expect([...new Set(bare)]).to.deep.equal([])
  })

  it('marks no name internal that a page, an example or a new project mentions', () => {
    const files = ['README.md', ...['docs', 'examples', 'cli/new'].flatMap(projectFiles)]
    const imported = importCounts(files)
    const written = files.map((path) => readFileSync(join(root, path), 'utf8')).join('\n')
    const internal = surface()
      .entries.flatMap((entry) => surface().exportsOf(entry))
      .filter(({ isInternal }) => isInternal)
    expect(internal).to.not.be.empty
    const mentioned = internal.filter(
      ({ name }) => imported.has(name) || written.includes(`\`${name}\``) || written.includes(`\`${name}(`),
    )
    expect(mentioned.map(({ name }) => name)).to.deep.equal([])
  })

  it('exports nothing for tests alone: a page, an example, a command or another file uses it', () => {
    const texts = [
      'README.md',
      ...['docs', 'examples', 'cli', 'lib'].flatMap((folder) => projectFiles(folder)),
    ]
      .filter((path) => !/(\/index\.ts|\/gen\/.*)$/.test(path))
      .map((path) => readFileSync(join(root, path), 'utf8'))
    const isUsed = (name: string) =>
      texts.some(
        (text) =>
          new RegExp(`\\b${name}\\b`).test(text) &&
          !new RegExp(`export (abstract class|class|const|function|async function) ${name}\\b`).test(text),
      )
    const values = surface()
      .entries.flatMap((entry) => surface().exportsOf(entry))
      .filter(({ kind }) => kind === 'value')
    const unused = [...new Set(values.map(({ name }) => name))].filter((name) => !isUsed(name))
    expect(unused.sort()).to.deep.equal([...SPECIFIED].sort())
  })

  for (const entry of surface().entries)
    it(`has at run time exactly what the compiler promises of ${entry}`, async () => {
      const promised = surface()
        .exportsOf(entry)
        .filter(({ kind }) => kind === 'value')
      const loaded = (await import(fileOf(entry))) as Record<string, unknown>
      expect(Object.keys(loaded).sort()).to.deep.equal(promised.map(({ name }) => name).sort())
    })

  it('has one binding for a name, whichever entry it is taken from', async () => {
    const bindings = new Map<string, unknown>()
    const shared: string[] = []
    for (const entry of surface().entries)
      for (const [name, value] of Object.entries((await import(fileOf(entry))) as Record<string, unknown>)) {
        if (entry === 'ashlar/decorators' && TWOFOLD.includes(name)) continue
        if (bindings.has(name)) {
          expect(bindings.get(name), `${name} of ${entry}`).to.equal(value)
          shared.push(name)
        }
        bindings.set(name, value)
      }
    expect(shared).to.include.members(['ErrNotFound', 'Resource', 'ServerBuilder'])
  })
})

const linesOf = (names: readonly Exported[]): readonly string[] =>
  names.map(
    ({ name, kind, isInternal }) =>
      `  ${kind === 'type' ? 'type ' : ''}${name}${isInternal ? ' (internal)' : ''}`,
  )

/** Returns the number of these files that import each name. */
function importCounts(files: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const path of files) {
    const names = new Set(
      [...readFileSync(join(root, path), 'utf8').matchAll(OWN_IMPORT)].flatMap(([, list = '']) =>
        list.split(',').map((name) => name.trim().replace(/^type /, '')),
      ),
    )
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

const commands = (): readonly string[] =>
  projectFiles('cli/commands')
    .map((path) => path.replace('cli/commands/', '').replace(/\.ts$/, '').replaceAll('/', ' '))
    .sort()

function fileOf(entry: string): string {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, { readonly default: string }>>
  }
  return pathToFileURL(
    join(compiled, exports[`.${entry.slice('ashlar'.length)}`]!.default.replace('./dist/', '')),
  ).href
}
