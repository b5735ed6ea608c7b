import { expect } from 'chai'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeNextFiles } from '../../../cli/migrate/next-files.js'
import { generateSearch } from '../../../cli/search/generate-search.js'
import { syncSearch } from '../../../cli/search/sync-search.js'
import { expectGolden } from '../../support/golden.js'
import { compiled } from '../../support/root.js'
import type { Ran } from '../../support/run-cli.js'
import { runCommand } from '../../support/run-command.js'

/** An entity whose text configuration is none. */
const UNFIT = join(compiled, 'test', 'support', 'entities', 'unfit-contacts.js')
/** Entities without INDEXED search. */
const PLAIN = join(compiled, 'test', 'support', 'entities', 'specimen.js')
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
    expect(JSON.parse(again.stdout)).to.deep.include({
      written: [],
      removed: [],
      unchanged: 8,
      isCommitted: true,
    })
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
    for (const ran of [await sync(), await sync('--check')]) {
      expect(ran.exit).to.equal(1)
      expect(ran.stderr).to.include(name).and.include('never edited')
    }
    expect(filesIn('committed')).to.deep.equal({ [name]: '-- edited\n' })
    // What the refusal advises.
    expect((await generate()).exit).to.equal(0)
    expect((await sync()).exit).to.equal(0)
    expect(filesIn('committed')[name]).to.equal('-- edited\n')
    expect(Object.keys(filesIn('committed'))).to.include('9002_articles_search_vector.up.sql')
  })

  it('gives no number a second file, and takes the next free one', async () => {
    await generateSearch(options())
    mkdirSync(at('committed'))
    writeFileSync(join(at('committed'), '9001_mine.up.sql'), 'SELECT 1;\n')
    for (const ran of [await sync(), await sync('--check')])
      expect([ran.exit, ran.stderr]).to.deep.equal([
        1,
        'ashlar: nothing is copied to committed: it contains 9001_mine, which has the same number as 9001_articles_search_vector. Generate again, which uses the next free numbers: ashlar search generate --entities MODULE --out out --migrations committed\n',
      ])
    expect(Object.keys(filesIn('committed'))).to.deep.equal(['9001_mine.up.sql'])
    expect((await generate()).exit).to.equal(0)
    const copied = await sync()
    expect([copied.exit, copied.stdout.trim().split('\n').at(-1)]).to.deep.equal([
      0,
      'Next: ashlar migrate plan --files committed, and commit the files',
    ])
    const numbers = new Set(Object.keys(filesIn('committed')).map((name) => name.slice(0, 4)))
    expect([...numbers]).to.deep.equal(['9001', '9002', '9003', '9004', '9005'])
  })

  it('says what is next, and what becomes of a search that is not INDEXED any more', async () => {
    const last = ({ stdout }: Ran) => stdout.trim().split('\n').at(-1)
    expect(last(await generate())).to.equal('Next: ashlar search sync --from out --to committed')
    const whole = ['generate', '--entities', ENTITIES, '--out', 'm/postgres', '--migrations', 'm/postgres']
    expect(last(await search(...whole))).to.equal('Next: ashlar migrate plan --files m, and commit the files')
    expect(last(await search(...whole))).to.equal('m/postgres is up to date')
    const off = await search('generate', '--entities', PLAIN, ...whole.slice(3))
    expect([off.exit, off.stdout]).to.deep.equal([
      0,
      'No search is INDEXED any more. What the files of m/postgres created stays until the contract drops it.\n' +
        `Next: ashlar migrate diff --files m NAME --entities ${PLAIN} --contract, once no process that uses this search runs\n`,
    ])
    expect(
      (await search('generate', '--entities', PLAIN, '--out', 'o', '--migrations', 'o')).stdout,
    ).to.equal('o needs no files: no search is INDEXED\n')
    // So that the two commands can always follow each other, as in the scripts of a new project.
    expect(await search('sync', '--from', 'o', '--to', 'p')).to.deep.include({
      exit: 0,
      stdout: 'p gets no files: o has none of search generate\n',
    })
  })

  it('has its numbers for a file of the contract that drops a vector, too', () => {
    mkdirSync(at('postgres'))
    for (const name of [
      '0002_a.up.sql',
      '9001_contacts_search_vector.up.sql',
      '9002_contacts_search_gin.up.sql',
    ])
      writeFileSync(join(at('postgres'), name), '--\n')
    const sqlFor = () => ({ up: '', down: '' })
    const { names } = writeNextFiles(folder, 'postgres', [
      { description: 'contacts_search_vector', isSearch: true, sqlFor },
      { description: 'drop_note', sqlFor },
      { description: 'articles_search_vector', isSearch: true, sqlFor },
    ])
    expect(names).to.deep.equal([
      '9003_contacts_search_vector',
      '0003_drop_note',
      '9004_articles_search_vector',
    ])
  })

  it('refuses to copy from a folder that is not there, or that is a file', async () => {
    const missing = await sync()
    expect([missing.exit, missing.stderr]).to.deep.equal([
      2,
      'ashlar: there is no folder out: name the folder that ashlar search generate wrote\n',
    ])
    writeFileSync(at('out'), '')
    const file = await sync()
    expect([file.exit, file.stderr]).to.deep.equal([2, 'ashlar: out is a file: name the folder\n'])
    expect(readdirSync(folder)).to.deep.equal(['out'])
  })

  const refused: readonly (readonly [what: string, args: readonly string[], says: string])[] = [
    ['a module that is not there', ['--entities', 'nowhere.js'], 'cannot be loaded'],
    ['a module in TypeScript', ['--entities', 'nowhere.ts'], 'name the compiled file'],
    [
      'a module without entities',
      ['--entities', join(compiled, 'test/support/root.js')],
      'exports no class with @Resource()',
    ],
    ['entities that do not fit together', ['--entities', UNFIT], 'not a text search configuration'],
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
