import { expect } from 'chai'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateSearch } from '../../../cli/search/generate.js'
import { syncSearch } from '../../../cli/search/sync.js'
import { expectGolden } from '../../support/golden.js'
import { compiled } from '../../support/root.js'
import type { Ran } from '../../support/run-cli.js'
import { runCommand } from '../../support/run-command.js'

/** An entity whose text configuration is none. */
const UNFIT = join(compiled, 'test', 'support', 'entities', 'unfit-contacts.js')
const ENTITIES = join(compiled, 'test', 'support', 'entities', 'contacts.js')

describe('ashlar search', () => {
  let folder: string
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'ashlar-search-'))))
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const search = (...args: readonly string[]): Promise<Ran> =>
    runCommand(['search', ...args], { cwd: folder })
  const generate = (...args: readonly string[]): Promise<Ran> =>
    search('generate', '--entities', ENTITIES, '--out', 'out', '--migrations', 'committed', ...args)
  const sync = (...args: readonly string[]): Promise<Ran> =>
    search('sync', '--from', 'out', '--to', 'committed', ...args)
  const at = (name: string): string => join(folder, name)
  const filesIn = (name: string): Record<string, string> =>
    Object.fromEntries(
      readdirSync(at(name))
        .sort()
        .map((file) => [file, readFileSync(join(at(name), file), 'utf8')]),
    )
  const options = (check = false) => ({
    entities: ENTITIES,
    out: at('out'),
    migrations: at('committed'),
    check,
  })

  it('writes the files once, and copies them byte for byte', async () => {
    const missing = await generate('--check')
    expect([missing.exit, missing.stderr]).to.deep.equal([1, ''])
    expect(readdirSync(folder)).to.deep.equal([])

    const first = await generate()
    expect([first.exit, first.stderr]).to.deep.equal([0, ''])
    const files = filesIn('out')
    expectGolden(
      'sql/search-migrations.sql',
      Object.entries(files)
        .map(([name, text]) => `-- ${name}\n${text}`)
        .join('\n'),
    )
    expectGolden('cli/search-generate.txt', first.stdout)
    expect((await generate('--check')).exit).to.equal(0)

    expect((await sync('--check')).exit).to.equal(1)
    expect((await sync()).exit).to.equal(0)
    expect(filesIn('committed')).to.deep.equal(files)
    expect((await sync('--check')).exit).to.equal(0)

    const again = await generate('--json')
    expect(JSON.parse(again.stdout)).to.deep.include({ written: [], removed: [], unchanged: 8 })
    expect(filesIn('out')).to.deep.equal(files)
  })

  it('gives a changed vector the next pair, and leaves the committed one alone', async () => {
    await generateSearch(options())
    syncSearch({ from: at('out'), to: at('committed'), check: false })
    const vector = '9003_contacts_search_vector.up.sql'
    const before = filesIn('committed')
    writeFileSync(join(at('committed'), vector), (before[vector] ?? '').replace("'simple'", "'german'"))
    const changes = await generateSearch(options())
    expect(changes.written).to.include('9005_contacts_search_vector.up.sql').and.not.include(vector)
    syncSearch({ from: at('out'), to: at('committed'), check: true })
  })

  it('removes its own files that nothing generates any more, and no other', async () => {
    mkdirSync(at('out'))
    for (const name of [
      '9009_gone_search_vector.up.sql',
      '0002_mine.up.sql',
      '9011_mine.up.sql',
      'notes.txt',
    ])
      writeFileSync(join(at('out'), name), '--\n')
    expect((await generateSearch(options(true))).removed).to.deep.equal(['9009_gone_search_vector.up.sql'])
    await generateSearch(options())
    expect(Object.keys(filesIn('out'))).to.include.members([
      '0002_mine.up.sql',
      '9011_mine.up.sql',
      'notes.txt',
    ])
    expect(Object.keys(filesIn('out'))).to.not.include('9009_gone_search_vector.up.sql')
  })

  it('never replaces a file that may have been applied', async () => {
    await generateSearch(options())
    mkdirSync(at('committed'))
    const name = '9001_articles_search_vector.up.sql'
    writeFileSync(join(at('committed'), name), '-- edited\n')
    const { exit, stderr } = await sync()
    expect(exit).to.equal(1)
    expect(stderr).to.include(name).and.include('never edited')
    expect(filesIn('committed')).to.deep.equal({ [name]: '-- edited\n' })
    expect((await sync('--check')).exit).to.equal(1)
  })

  const refused: readonly (readonly [what: string, args: readonly string[], says: string])[] = [
    ['a module that is not there', ['--entities', 'nowhere.js'], 'cannot be loaded'],
    ['a module in TypeScript', ['--entities', 'nowhere.ts'], 'name the compiled file'],
    [
      'a module without entities',
      ['--entities', join(compiled, 'test/support/root.js')],
      'exports no class with @Resource()',
    ],
    ['entities that do not fit together', ['--entities', UNFIT], 'no text search configuration'],
    ['an empty path', ['--entities', ''], '--entities is empty'],
  ]
  for (const [what, args, says] of refused)
    it(`refuses ${what}`, async () => {
      const { exit, stderr } = await search('generate', ...args, '--out', 'out', '--migrations', 'committed')
      expect([exit, stderr.trim().split('\n').length]).to.deep.equal([2, 1])
      expect(stderr).to.include(says)
      expect(readdirSync(folder)).to.deep.equal([])
    })

  for (const command of ['search', 'search generate', 'search sync'])
    it(`shows the way: ${command}`, async () => {
      const { stdout } = await runCommand([...command.split(' '), '--help'])
      expectGolden(`cli/help-ashlar-${command.replaceAll(' ', '-')}.txt`, stdout)
    })
})
