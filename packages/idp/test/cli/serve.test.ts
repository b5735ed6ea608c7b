import { expect } from 'chai'
import { decodeJwt } from 'jose'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { COMMANDS } from '../../lib/cli/commands.js'
import { variableOf } from '../../lib/cli/command.js'
import { linesOf } from '../../lib/cli/serve.js'
import { hostOf, issuerOf } from '../../lib/provider/options.js'
import { ownProvider } from '../support/own-provider.js'
import { start } from '../support/program.js'

describe('ashlar-idp serve', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'serve-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    start(args, { cwd: folder, env }).ended

  it('starts from an empty folder, gives tokens to scripts, and ends on a signal', async () => {
    const serve = start(['serve'], { cwd: folder, env: { ASHLAR_IDP_PORT: '0', ASHLAR_IDP_STATE: 'keys' } })
    const [, issuer = ''] = await serve.printed(/Launchpad and issuer: (http:\/\/127\.0\.0\.1:\d+)\n/)
    await serve.printed(/Written: idp-users\.yaml.*\nWritten: idp-clients\.local\.yaml/)
    const printed = await run(['token', '--user', 'alice', '--client', 'app', '--state', 'keys'])
    expect(decodeJwt(printed.stdout.trim())).to.include({ iss: issuer, sub: 'alice', aud: 'app' })
    const whole = await run(['token', '--user', 'bob', '--client', 'app', '--scope', 'read', '--json'], {
      ASHLAR_IDP_STATE: 'keys',
    })
    expect(JSON.parse(whole.stdout)).to.include({ token_type: 'Bearer', expires_in: 300, scope: 'read' })
    expect((await serve.stop()).exit).to.equal(0)
    expect((await run(['token', '--user', 'alice', '--client', 'app', '--state', 'keys'])).exit).to.equal(3)
  })

  it('what strangers begin takes at most 64 MiB of its process', async function () {
    if (process.platform !== 'linux') return this.skip()
    const serve = start(['serve', '--port', '0'], { cwd: folder })
    const [, issuer = ''] = await serve.printed(/Launchpad and issuer: (\S+)\n/)
    const resident = () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${serve.child.pid}/status`, 'utf8'))?.[1]) / 1024
    const parameters = new URLSearchParams({
      ...{ client_id: 'app', response_type: 'code', scope: 'openid', code_challenge_method: 'S256' },
      ...{ redirect_uri: 'http://localhost:3000/callback', code_challenge: 'x'.repeat(43) },
      state: 's'.repeat(2_000),
    })
    const round = () =>
      Promise.all(
        Array.from({ length: 50 }, async (_, at) => {
          const path = at % 5 === 0 ? '/device' : `/auth?${parameters}`
          await (await fetch(`${issuer}${path}`, { redirect: 'manual' })).arrayBuffer()
        }),
      )
    await round()
    const began = resident()
    for (let rounds = 0; rounds < (process.env['ASHLAR_DRILL'] === '1' ? 600 : 6); rounds++) await round()
    expect(resident() - began).to.be.below(64)
    await serve.stop()
  })

  it('in a container it says how others get to it', async () => {
    const serve = start(['serve', '--port', '0'], {
      cwd: folder,
      env: { KUBERNETES_SERVICE_HOST: '10.0.0.1' },
    })
    await serve.printed(
      /Note: This is a container\. .*--network container:<name>.*network_mode: "service:<name>"/,
    )
    await serve.stop()
  })

  it('a port that is taken names who has it, and how to see it', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const { exit, stderr } = await run(['serve', '--port', String(port)])
    server.closeAllConnections()
    server.close()
    const holder = process.platform === 'linux' ? `process ${process.pid} \\(.+\\)` : 'another program'
    expect(stderr).to.match(
      new RegExp(
        `^ashlar-idp: port ${port} is used by ${holder}: stop it, or choose another port with --port\\. To see the process: .*${port}`,
        'm',
      ),
    )
    expect(exit).to.equal(2)
  })

  it('a port that another provider has says so', async () => {
    const own = await ownProvider()
    const { exit, stderr } = await run(['serve', '--port', String(own.provider.port)])
    await own.close()
    const by = process.platform === 'linux' ? `, process ${process.pid} (` : ': '
    expect(stderr).to.include(`port ${own.provider.port} is used by another ashlar-idp${by}`)
    expect(exit).to.equal(2)
  })

  it('where users have no numbers, as on Windows, it says where it runs', async () => {
    const windows = { NODE_OPTIONS: '--import=data:text/javascript,process.getuid=undefined' }
    for (const args of [
      ['serve', '--port', '0'],
      ['edge', '--port', '0'],
    ]) {
      const { exit, stderr } = await run(args, { ...windows, DEVEDGE_HOME: join(folder, 'home') })
      expect(stderr).to.include('needs Linux or macOS: on Windows, run it in WSL')
      expect(exit).to.equal(2)
    }
  })

  it('an address of a network is refused, with what to do in a container', async () => {
    const { exit, stderr } = await run(['serve', '--port', '0', '--host', '0.0.0.0'])
    expect(stderr).to.match(
      /^ashlar-idp: --host "0\.0\.0\.0" is a network address: .* on this machine .*In a container, .*--network container:<name>/m,
    )
    expect(exit).to.equal(2)
    for (const host of ['0.0.0.0', '0', '::', '[::]', '10.0.0.1', '[fe80::1]', 'a b', 'idp.dev.test:80', ''])
      expect(() => hostOf(host), host).to.throw(/--host/)
    for (const issuer of [
      'http://0.0.0.0:8080',
      'http://10.0.0.1:8080',
      'http://idp.dev.test',
      'https://idp.dev.test/',
      'ftp://127.0.0.1',
      '127.0.0.1:8080',
    ])
      expect(() => issuerOf(issuer), issuer).to.throw(/--issuer/)
    expect([
      hostOf('Idp.dev.test'),
      hostOf('127.0.0.1'),
      issuerOf('https://idp.dev.test:8443'),
    ]).to.deep.equal(['idp.dev.test', '127.0.0.1', 'https://idp.dev.test:8443'])
  })

  it('names in the files print nothing that controls a terminal', async () => {
    const own = await ownProvider()
    own.write('idp-clients.yaml', '- {client_id: "x\\e]0;y\\a\\nNote: z", redirect_uris: ["\\e[31m"]}')
    own.write('idp-users.yaml', '- {sub: a, "\\e[2J": 1}')
    const lines = linesOf(own.provider)
    await own.close()
    expect(lines.join()).to.include('x?]0;y??Note: z').and.include('?[2J').and.not.match(/\p{C}/u)
    expect((await run(['\u001b[2J'])).stderr).to.equal(
      'ashlar-idp: unknown command "?[2J": see ashlar-idp --help\n',
    )
  })

  it('other addresses of the machine do not listen on its port', async function () {
    const outer = Object.values(networkInterfaces()).flatMap((list = []) =>
      list.filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address),
    )
    if (outer.length === 0) {
      console.warn('SKIPPED: this machine has loopback addresses only')
      return this.skip()
    }
    const own = await ownProvider()
    for (const host of outer) {
      const result = await new Promise<string | undefined>((resolve) => {
        const socket = connect(own.provider.port, host, () => (socket.destroy(), resolve('connected')))
        socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code))
      })
      expect(result, host).to.equal('ECONNREFUSED')
    }
    await own.close()
  })

  it('every flag is in the help of its command, with its variable', async () => {
    for (const { name, flags } of COMMANDS) {
      const { stdout, exit } = await run([...name.split(' '), '--help'])
      expect(exit).to.equal(0)
      for (const flag of Object.keys(flags))
        expect(stdout, name).to.include(`--${flag}`).and.include(variableOf(flag))
      expect((await run([])).stdout).to.include(`ashlar-idp ${name}`)
    }
  })

  const WRONG: readonly (readonly [readonly string[], RegExp])[] = [
    [['serv'], /unknown command "serv": see ashlar-idp --help/],
    [['serve', '--prot', '1'], /--prot/],
    [['serve', 'now'], /now/],
    [['serve', '--port', 'x'], /--port "x" is not a port/],
    [['serve', '--port', '65536'], /--port "65536" is not a port/],
    [['token', '--client', 'app'], /--user is missing/],
    [['token', '--user', 'alice'], /--client is missing/],
  ]
  for (const [args, says] of WRONG)
    it(`ends with 2 and one line: ${args.join(' ')}`, async () => {
      const { exit, stdout, stderr } = await run(args)
      expect(stderr)
        .to.match(/^ashlar-idp: [^\n]+\n$/m)
        .and.match(says)
      expect([exit, stdout]).to.deep.equal([2, ''])
    })
})
