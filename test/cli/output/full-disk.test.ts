import { expect } from 'chai'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compiled } from '../../support/root.js'
import { runCli } from '../../support/run-cli.js'

const CONTACTS = join(compiled, 'test', 'support', 'entities', 'contacts.js')
/** No file of this process may grow. */
const NO_ROOM = ['sh', '-c', 'ulimit -f 0; exec "$@"', 'sh']

describe('a full disk', () => {
  let folder: string
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'ashlar-full-'))))
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  const at = (name: string): string => join(folder, name)

  const PRINTING: readonly (readonly string[])[] = [
    ['--help'],
    ['--version'],
    ['completion', 'bash'],
    ['idp', 'new'],
    ['idp', 'new', '--json'],
    ['migrate', 'lint', '--files', '.'],
  ]
  for (const words of PRINTING)
    it(`below stdout ends ${words.slice(0, 2).join(' ')}${words.includes('--json') ? ' --json' : ''} in one line`, async () => {
      writeFileSync(at('0002_t.up.sql'), 'CREATE TABLE t (id bigint PRIMARY KEY)')
      const { exit, stderr } = await runCli('ashlar', words, {
        cwd: folder,
        under: ['sh', '-c', 'exec "$@" >/dev/full', 'sh'],
      })
      expect(stderr).to.equal('ashlar: stdout cannot be written: the disk is full; free some space first\n')
      expect(exit).to.equal(5)
    })

  it('leaves no file of migrate new behind', async () => {
    const args = ['migrate', 'new', 'contacts', '--entities', CONTACTS]
    const { exit, stdout, stderr } = await runCli('ashlar', args, { cwd: folder, under: NO_ROOM })
    expect([exit, stdout]).to.deep.equal([5, ''])
    expect(stderr).to.equal(
      'ashlar: nothing is written: the limit on file sizes is too low; raise it first\n',
    )
    for (const engine of ['postgres', 'mysql'])
      expect(readdirSync(at(`migrations/${engine}`))).to.deep.equal([])
  })

  it('leaves the old files of search generate and search sync whole', async () => {
    const GENERATE = ['generate', '--entities', CONTACTS, '--out', 'out', '--migrations', 'committed']
    const SYNC = ['sync', '--from', 'out', '--to', 'committed']
    const search = (args: readonly string[], under: readonly string[] = []) =>
      runCli('ashlar', ['search', ...args], { cwd: folder, under })
    expect((await search(GENERATE)).exit).to.equal(0)
    const [name = ''] = readdirSync(at('out'))
    mkdirSync(at('committed'))
    for (const where of ['out', 'committed']) writeFileSync(join(at(where), name), '-- old\n')
    for (const args of [SYNC, GENERATE]) {
      const before = readdirSync(at('committed'))
      const { exit, stdout, stderr } = await search(args, NO_ROOM)
      expect([exit, stdout]).to.deep.equal([5, ''])
      expect(stderr).to.match(/^ashlar: (out|committed)\/\S+ [^\n]*\n$/)
      expect(readdirSync(at('committed'))).to.deep.equal(before)
      for (const where of ['out', 'committed'])
        expect(readFileSync(join(at(where), name), 'utf8')).to.equal('-- old\n')
    }
  })
})
