import { Config, settings } from '@oclif/core'
import { expect } from 'chai'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GROUPS, ROOT_GROUPS } from '../../../cli/help/groups.js'
import { ExampledHelp } from '../../../cli/help/help.js'
import { loadOptions } from '../../../cli/loading/load-options.js'
import { expectGolden } from '../../support/golden.js'
import { runCli } from '../../support/run-cli.js'

/**
 * The idp commands and topics, as `idp` and as `ashlar` know them. Commands of other topics have golden files
 * of their own.
 */
const PLACES: readonly (readonly ['ashlar' | 'idp', string])[] = [
  ['ashlar', 'idp'],
  ['ashlar', 'idp clients'],
  ['ashlar', 'idp clients sync'],
  ['ashlar', 'idp new'],
  ['ashlar', 'idp up'],
  ['ashlar', 'completion'],
  ['idp', 'clients'],
  ['idp', 'clients sync'],
  ['idp', 'new'],
  ['idp', 'up'],
]

/** What `--help` prints, without a process for each. */
async function helpOf(program: 'ashlar' | 'idp', words: string): Promise<string> {
  const config = await Config.load(loadOptions(program))
  let text = ''
  class Kept extends ExampledHelp {
    protected override log(...lines: string[]): void {
      text += `${lines.join(' ')}\n`
    }
  }
  await new Kept(config, { maxWidth: 80, stripAnsi: true }).showHelp([...words.split(' '), '--help'])
  return text
}

describe('--help', () => {
  before(() => (settings.enableAutoTranspile = false))

  for (const [program, words] of PLACES) {
    const called = `${program} ${words}`.trim()
    it(`shows the way with examples: ${called}`, async () => {
      const text = await helpOf(program, words)
      expect(text).to.include(`EXAMPLES\n  $ ${program} `)
      expectGolden(`cli/help-${called.replaceAll(' ', '-')}.txt`, text)
    })
  }

  for (const program of ['ashlar', 'idp'] as const)
    it(`is what a process of ${program} prints`, async () => {
      const { exit, stdout, stderr } = await runCli(program, ['--help'])
      expect([exit, stderr]).to.deep.equal([0, ''])
      expect(stdout).to.equal(await helpOf(program, ''))
    })

  it('has the exit statuses that the command can end with, and what 1 means for it', async () => {
    const statusesOf = async (words: string) =>
      [...(await helpOf('ashlar', words)).replace(/[^]*EXIT STATUS/, '').matchAll(/^ {2}(\d+) +(.*)/gm)].map(
        ([, code, meaning]) => `${code} ${meaning}`,
      )
    const ends = ['70', '130', '143']
    const codes = async (words: string) => (await statusesOf(words)).map((row) => row.split(' ')[0])
    expect(await codes('migrate renumber')).to.deep.equal(['0', '2', '5', ...ends])
    expect(await codes('migrate verify')).to.deep.equal(['0', '1', '2', '5', '6', ...ends])
    expect(await codes('idp up')).to.deep.equal(['0', '2', '3', '4', '5', ...ends])
    expect(await statusesOf('migrate verify')).to.include('1 A difference was found.')
  })

  it('fits a screen for ashlar, which has each topic and command in one group', async () => {
    const text = await helpOf('ashlar', '')
    expect(text.split('\n').length, text).to.be.at.most(40)
    expect(text).to.include('EXAMPLES\n  $ ashlar new shop\n')
    const { commands } = await Config.load(loadOptions('ashlar'))
    const names = new Set(
      commands.filter(({ hidden }) => hidden !== true).map(({ id }) => id.split(':')[0] ?? ''),
    )
    expect(Object.values(ROOT_GROUPS).flat().sort()).to.deep.equal([...names].sort())
  })

  it('has each command of a topic with groups in one of them', async () => {
    const { commands } = await Config.load(loadOptions('ashlar'))
    for (const [topic, groups] of Object.entries(GROUPS))
      expect(Object.values(groups).flat()).to.have.members(
        commands.flatMap(({ id, hidden }) =>
          id.startsWith(`${topic}:`) && !hidden ? [id.slice(topic.length + 1)] : [],
        ),
      )
  })

  it('is what the program shows without a command, and with -h', async () => {
    const { stdout } = await runCli('idp', ['--help'])
    expect((await runCli('idp', [])).stdout).to.equal(stdout)
    expect((await runCli('idp', ['-h'])).stdout).to.equal(stdout)
  })

  it('has no colours without a terminal', async () => {
    expect((await runCli('idp', ['up', '--help'], { env: { TERM: 'xterm' } })).stdout).to.not.include(
      '\u001b',
    )
  })

  it('loads neither TypeORM nor gRPC nor YAML', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ashlar-loaded-'))
    await runCli('ashlar', ['idp', 'clients', 'sync', '--help'], { env: { NODE_V8_COVERAGE: folder } })
    const loaded = readdirSync(folder)
      .map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as { result: { url: string }[] })
      .flatMap(({ result }) => result.map(({ url }) => url))
    rmSync(folder, { recursive: true })
    expect(loaded.filter((url) => url.includes('/cli/commands/idp/'))).to.have.length.above(0)
    const heavy =
      /node_modules\/(typeorm|@grpc|nice-grpc[^/]*|@bufbuild|reflect-metadata|pg|mysql2|jose|yaml|chokidar)\//
    expect(loaded.filter((url) => heavy.test(url) || url.includes('/lib/persistence/'))).to.deep.equal([])
  })
})

describe('the programs', () => {
  for (const program of ['ashlar', 'idp'] as const)
    it(`say which version ${program} is`, async () => {
      const { exit, stdout } = await runCli(program, ['--version'])
      expect(exit).to.equal(0)
      expect(stdout).to.match(/^ashlar\/\d+\.\d+\.\d+ \S+ node-v\d+\S+\n$/)
    })

  const UNKNOWN: readonly (readonly ['ashlar' | 'idp', string, string])[] = [
    [
      'ashlar',
      'idp clints sync',
      'unknown command idp clints sync, did you mean idp clients sync?; see ashlar idp --help',
    ],
    ['ashlar', 'idp frob', 'unknown command idp frob; see ashlar idp --help'],
    ['ashlar', 'ipd up', 'unknown command ipd up, did you mean idp up?; see ashlar --help'],
    ['idp', 'pu', 'unknown command pu, did you mean up?; see idp --help'],
    ['idp', 'idp up', 'unknown command idp up; see idp --help'],
    ['idp', 'frobnicate --help', 'unknown command frobnicate; see idp --help'],
  ]
  for (const [program, words, message] of UNKNOWN)
    it(`reject "${program} ${words}" with what was meant`, async () => {
      const { exit, stdout, stderr } = await runCli(program, words.split(' '))
      expect([exit, stdout, stderr]).to.deep.equal([2, '', `${program}: ${message}\n`])
    })

  it('call a mistake of their own one, and show where it is when asked', async () => {
    const broken = `--import=data:text/javascript,${encodeURIComponent('JSON.parse = () => { throw new TypeError("boom") }')}`
    const plain = await runCli('idp', ['up'], { env: { NODE_OPTIONS: broken } })
    expect([plain.exit, plain.stdout]).to.deep.equal([70, ''])
    expect(plain.stderr).to.equal(
      'idp: boom: this is an internal error; please report it with what ASHLAR_DEBUG=1 prints\n',
    )
    const { stderr } = await runCli('idp', ['up'], { env: { NODE_OPTIONS: broken, ASHLAR_DEBUG: '1' } })
    expect(stderr).to.match(/^TypeError: boom\n +at /)
  })

  it('end quietly when nobody reads on', async () => {
    const under = ['sh', '-c', '"$@" | head -n 1', 'sh']
    expect(await runCli('idp', ['clients', 'sync', '--help'], { under })).to.have.property('stderr', '')
  })

  it('look for commands where they are, whatever NODE_ENV says', async () => {
    const { exit, stderr } = await runCli('idp', ['--help'], { env: { NODE_ENV: 'development' } })
    expect([exit, stderr]).to.deep.equal([0, ''])
  })
})
