import { expect } from 'chai'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GUESSABLE } from '../../../cli/idp/clients.js'
import { expectGolden } from '../../support/golden.js'
import type { Ran } from '../../support/run-cli.js'
import { runCommand } from '../../support/run-command.js'

describe('idp new', () => {
  let folder: string
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'ashlar-new-'))))
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const idp = (...args: readonly string[]): Promise<Ran> => runCommand(args, { program: 'idp', cwd: folder })
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8')

  it('shows the way and writes nothing', async () => {
    const { exit, stdout, stderr } = await idp('new')
    expect([exit, stderr]).to.deep.equal([0, ''])
    expectGolden('cli/new-guidance.txt', stdout)
    expect(readdirSync(folder)).to.deep.equal([])
  })

  it('names the commands as they were called', async () => {
    const { stdout } = await runCommand(['idp', 'new'], { cwd: folder })
    expect(stdout).to.include('ashlar idp clients sync').and.include('ashlar idp new --emit')
  })

  it('writes both files with --emit, for their owner alone', async () => {
    const { exit, stdout, stderr } = await idp('new', '--emit')
    expect([exit, stderr]).to.deep.equal([0, ''])
    expectGolden('cli/new-emit.txt', stdout.replace(GUESSABLE, '<guessable>'))
    expectGolden('cli/new-devedge.yaml.txt', read('devedge.yaml'))
    expectGolden('cli/new-idp-clients.yaml.txt', read('idp-clients.yaml'))
    expect(readdirSync(folder).sort()).to.deep.equal(['devedge.yaml', 'idp-clients.yaml'])
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).to.equal(0o600)
  })

  it('writes what a sync understands and finds right', async () => {
    await idp('new', '--emit')
    const { exit, stdout } = await idp('clients', 'sync', '--config', 'devedge.yaml', '--json')
    expect(exit).to.equal(0)
    expect(JSON.parse(stdout)).to.include({ state: 'unchanged' }).and.have.property('clients').eql(['idp'])
  })

  it('makes the folder of --dir', async () => {
    const { exit, stdout } = await idp('new', '--emit', '--dir', 'a/b')
    expect(exit).to.equal(0)
    expect(stdout).to.include('written    a/b/devedge.yaml')
    expect(stdout).to.include('idp clients sync --config a/b/devedge.yaml --out a/b/idp-clients.yaml')
    expect(readdirSync(join(folder, 'a/b')).sort()).to.deep.equal(['devedge.yaml', 'idp-clients.yaml'])
  })

  it('leaves its own files alone the second time, and says so', async () => {
    await idp('new', '--emit')
    const { exit, stdout } = await idp('new', '--emit')
    expect(exit).to.equal(0)
    expect(stdout).to.include('unchanged  devedge.yaml\nunchanged  idp-clients.yaml\n')
  })

  it('keeps a file that was edited, and writes neither', async () => {
    writeFileSync(join(folder, 'devedge.yaml'), 'mine\n')
    const { exit, stdout, stderr } = await idp('new', '--emit')
    expect([exit, stdout]).to.deep.equal([1, ''])
    expect(stderr).to.equal(
      'idp: devedge.yaml differs from the starter and is kept as it is: pass --force to replace it\n',
    )
    expect(read('devedge.yaml')).to.equal('mine\n')
    expect(readdirSync(folder)).to.deep.equal(['devedge.yaml'])
  })

  it('replaces an edited file with --force', async () => {
    writeFileSync(join(folder, 'devedge.yaml'), 'mine\n')
    expect((await idp('new', '--emit', '--force')).exit).to.equal(0)
    expect(read('devedge.yaml')).to.include('idp.dev.test')
  })

  it('prints one object with --json', async () => {
    const { stdout } = await idp('new', '--emit', '--json')
    expect(JSON.parse(stdout)).to.deep.equal({
      files: [
        { file: 'devedge.yaml', state: 'written' },
        { file: 'idp-clients.yaml', state: 'written' },
      ],
    })
    expect(JSON.parse((await idp('new', '--json')).stdout))
      .to.have.property('guidance')
      .that.includes('2. idp up')
  })

  const BAD: readonly (readonly [string, readonly string[], number, RegExp])[] = [
    ['--force without --emit', ['--force'], 2, /--emit/],
    ['--dir that is empty', ['--emit', '--dir='], 2, /--dir /],
    ['--dir through a file', ['--emit', '--dir', 'plain/sub'], 5, /plain\/sub/],
    ['--dir that is a file', ['--emit', '--dir', 'plain'], 5, /plain/],
  ]
  for (const [name, args, exit, says] of BAD)
    it(`ends with ${exit} and one line: ${name}`, async () => {
      writeFileSync(join(folder, 'plain'), '')
      const ran = await idp('new', ...args)
      expect(ran.stderr)
        .to.match(/^idp: [^\n]+\n$/)
        .and.match(says)
      expect([ran.exit, ran.stdout]).to.deep.equal([exit, ''])
      expect(readdirSync(folder)).to.deep.equal(['plain'])
    })
})
