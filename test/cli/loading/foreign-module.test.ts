import { expect } from 'chai'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { compiled } from '../../support/root.js'
import { type Ran, runCli } from '../../support/run-cli.js'
import { runCommand } from '../../support/run-command.js'

const GENERATED = pathToFileURL(join(compiled, 'examples', 'widgets', 'gen', 'widgets_pb.js')).href

describe('the modules that a command line names', () => {
  let folder: string
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'ashlar-module-'))))
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const run = (...args: readonly string[]): Promise<Ran> => runCommand(args, { cwd: folder })
  /** In a process of its own, which has to end. */
  const toItsEnd = (...args: readonly string[]): Promise<Ran> => runCli('ashlar', args, { cwd: folder })
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
  const commands = {
    'authz catalog': ['authz', 'catalog'],
    'migrate new --entities': ['migrate', 'new', 'a', '--entities'],
  }

  for (const [name, words] of Object.entries(commands))
    describe(name, () => {
      it('says that there is no file', async () => {
        const { exit, stderr } = await run(...words, 'dist/none.js')
        expect([exit, stderr]).to.deep.equal([
          2,
          'ashlar: dist/none.js cannot be loaded: there is no such file; compile it, or name another\n',
        ])
      })

      it('says that it is a folder', async () => {
        mkdirSync(join(folder, 'dist'))
        const { exit, stderr } = await run(...words, 'dist')
        expect([exit, stderr]).to.deep.equal([
          2,
          'ashlar: dist cannot be loaded: it is a folder; name a compiled file in it, such as dist/index.js\n',
        ])
      })

      it('repeats what loading throws', async () => {
        write('throws.mjs', "throw new RangeError('no settings')")
        const { exit, stderr } = await run(...words, 'throws.mjs')
        expect([exit, stderr]).to.deep.equal([2, 'ashlar: throws.mjs cannot be loaded: no settings\n'])
      })

      it('ends although the module has something open and exports nothing', async () => {
        write('open.mjs', 'setInterval(() => undefined, 1000)')
        expect((await toItsEnd(...words, 'open.mjs')).exit).to.equal(2)
      })
    })

  it('are let go of when everything is printed', async () => {
    write('open.mjs', `setInterval(() => undefined, 1000)\nexport * from '${GENERATED}'`)
    const { exit, stdout, stderr } = await toItsEnd('authz', 'catalog', 'open.mjs')
    expect([exit, stderr]).to.deep.equal([0, ''])
    expect(stdout).to.match(/UpdateWidget .*who is granted it\n$/)
  })

  it('are asked for by the name of the argument', async () => {
    const { exit, stderr } = await run('authz', 'catalog')
    expect([exit, stderr]).to.deep.equal([
      2,
      'ashlar: <module> is missing: The compiled module of the server or of generated services; see --help\n',
    ])
    const generate = await run('search', 'generate')
    expect(generate.stderr).to.equal(
      'ashlar: --entities is missing; --migrations is missing; --out is missing; see --help\n',
    )
  })
})
