import { expect } from 'chai'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { parse } from 'yaml'
import { runCli } from '../../support/run-cli.js'
import { runCommand } from '../../support/run-command.js'
import {
  type RouteDaemon,
  type RouteDaemonOptions,
  startRouteDaemon,
} from '../../support/servers/route-daemon.js'

const OLD_FILE = '- client_id: old\n'
const MIB = 1 << 20

describe('a hostile daemon', () => {
  let folder: string
  let daemon: RouteDaemon
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-hostile-'))
    writeFileSync(join(folder, 'idp-clients.yaml'), OLD_FILE)
  })
  afterEach(async () => {
    await daemon.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const start = async (options: RouteDaemonOptions): Promise<void> => {
    daemon = await startRouteDaemon(options)
  }
  const idp = (...args: readonly string[]) =>
    runCommand(args, { program: 'idp', cwd: folder, env: daemon.env })
  const file = () => readFileSync(join(folder, 'idp-clients.yaml'), 'utf8')

  for (const verb of [['clients', 'sync'], ['up']]) {
    it(`that sends 100 MiB gets no further than 8 with ${verb.join(' ')}`, async () => {
      let sent = 0
      const chunk = Buffer.alloc(MIB, ' ')
      const chunks = function* () {
        for (; sent < 100; sent++) yield chunk
      }
      await start({ mode: (response) => void Readable.from(chunks()).pipe(response) })
      const { exit, stdout, stderr } = await idp(...verb)
      expect(stderr).to.match(/^idp: [^\n]*devedged\.sock[^\n]* 8 MiB\b[^\n]*\n$/)
      expect([exit, stdout]).to.deep.equal([3, ''])
      expect(sent).to.be.below(20)
      expect(file()).to.equal(OLD_FILE)
    })

    for (const status of [301, 302, 303, 307, 308])
      it(`that redirects with ${status} is not followed by ${verb.join(' ')}`, async () => {
        let asked = 0
        const other = createServer((_, response) => {
          asked++
          response.end('[]')
        })
        await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve))
        const { port } = other.address() as AddressInfo
        await start({
          mode: (response) =>
            void response.writeHead(status, { location: `http://127.0.0.1:${port}/v1/routes` }).end('[]'),
        })
        const { exit, stdout, stderr } = await idp(...verb)
        other.close()
        expect(stderr).to.match(/^idp: [^\n]+\n$/)
        expect([exit, stdout, asked]).to.deep.equal([3, '', 0])
        expect(file()).to.equal(OLD_FILE)
      })
  }

  it('that never answers keeps up for five seconds', async function () {
    await start({ mode: 'hung' })
    const { exit, stdout, stderr } = await runCli('idp', ['up'], { cwd: folder, env: daemon.env })
    expect(stderr).to.match(/^idp: [^\n]*devedged\.sock[^\n]* 5 s\b/)
    expect([exit, stdout]).to.deep.equal([3, ''])
  })

  it('that puts YAML and controls of terminals into names gets them written as text', async () => {
    const names = [
      'a: b',
      '- x',
      '*a',
      '&a b',
      '!!binary AA==',
      '{a: b}',
      '|',
      '%TAG',
      '"',
      "'",
      '#',
      '~',
      '<<',
      'x #y',
    ]
    await start({
      routes: names.map((project, index) => ({
        ...{ host: `h${index}.dev.test`, upstream: 'http://127.0.0.1:1', project },
        tile: { display_name: `${project}\n- client_id: root`, description: `${project}\u001b[2J` },
      })),
    })
    const { exit, stdout, stderr } = await idp('clients', 'sync')
    expect(exit).to.equal(0)
    expect(`${stdout}${stderr}`).not.to.include('\u001b')
    const entries = parse(file()) as readonly { client_id: string; tile: { name: string } }[]
    expect(entries.map(({ client_id }) => client_id)).to.have.members(names)
    for (const { client_id, tile } of entries) expect(tile.name).to.include(client_id)
  })
})
