import { expect } from 'chai'
import { expectGolden } from '../../support/golden.js'
import {
  type RouteDaemon,
  type RouteDaemonOptions,
  startRouteDaemon,
} from '../../support/servers/route-daemon.js'
import type { Ran } from '../../support/run-cli.js'
import { runCommand } from '../../support/run-command.js'

const HELD = { host: 'idp.dev.test', upstream: 'http://127.0.0.1:9999' }

describe('idp up', () => {
  let daemon: RouteDaemon | undefined
  afterEach(async () => {
    await daemon?.close()
    daemon = undefined
  })

  const start = async (options: RouteDaemonOptions = {}): Promise<RouteDaemon> => {
    daemon = await startRouteDaemon(options)
    return daemon
  }
  const up = (...args: readonly string[]): Promise<Ran> =>
    runCommand(['idp', 'up', ...args], daemon === undefined ? {} : { env: daemon.env })
  const steady = ({ stdout }: Ran): string => stdout.replaceAll(/\(\S+\)$/gm, '(the daemon)')

  for (const over of ['unix', 'tcp'] as const)
    it(`registers the route over ${over}`, async () => {
      const { routes } = await start({ over })
      const ran = await up()
      expect([ran.exit, ran.stderr]).to.deep.equal([0, ''])
      expectGolden('cli/up-registered.txt', steady(ran))
      expect(routes()).to.deep.equal([
        { host: 'idp.dev.test', upstream: 'http://127.0.0.1:8080', project: 'idp', owner: 'de-idp' },
      ])
    })

  it('renews the route the second time, and says so', async () => {
    const { calls } = await start()
    await up()
    const ran = await up()
    expect([ran.exit, ran.stderr]).to.deep.equal([0, ''])
    expectGolden('cli/up-renewed.txt', steady(ran))
    expect(calls.map(({ method }) => method)).to.deep.equal(['GET', 'PUT', 'GET', 'PUT'])
  })

  it('moves the route to another upstream, and says where it led before', async () => {
    const { routes } = await start()
    await up()
    const ran = await up('--port', '9000')
    expectGolden('cli/up-moved.txt', steady(ran))
    expect(routes().map(({ upstream }) => upstream)).to.deep.equal(['http://127.0.0.1:9000'])
  })

  it('says who holds the host, and leaves the route theirs', async () => {
    const { routes } = await start({ routes: [{ ...HELD, owner: 'their-team' }] })
    const { exit, stdout, stderr } = await up()
    expect(stderr).to.match(/^ashlar: idp\.dev\.test [^\n]*\bowned by their-team\b[^\n]*\n$/)
    expect([exit, stdout]).to.deep.equal([4, ''])
    expect(routes().map(({ owner }) => owner)).to.deep.equal(['their-team'])
  })

  it('registers the host and upstream it is given', async () => {
    const { routes } = await start()
    const { exit, stdout } = await up(
      '--host',
      'Login.dev.test',
      '--upstream',
      'https://10.0.0.5:8443',
      '--port',
      '1',
    )
    expect(exit).to.equal(0)
    expect(stdout).to.include('registered https://login.dev.test/ → https://10.0.0.5:8443')
    expect(routes().map(({ host, upstream }) => `${host} ${upstream}`)).to.deep.equal([
      'login.dev.test https://10.0.0.5:8443',
    ])
  })

  it('minds no odd route of somebody else', async () => {
    await start({ routes: [{ host: 'web', upstream: 'x', owner: 'their-team' }] })
    expect((await up()).exit).to.equal(0)
  })

  it('prints one object with --json', async () => {
    const { address } = await start()
    await up()
    const { stdout } = await up('--json', '--port', '9000')
    expect(JSON.parse(stdout)).to.deep.equal({
      url: 'https://idp.dev.test/',
      host: 'idp.dev.test',
      upstream: 'http://127.0.0.1:9000',
      daemon: 'socketPath' in address ? address.socketPath : '',
      state: 'moved',
      previousUpstream: 'http://127.0.0.1:8080',
    })
  })

  it('prints the exit status of a failure with --json', async () => {
    await start({ routes: [{ ...HELD, owner: 'their-team' }] })
    const { exit, stdout } = await up('--json')
    expect(exit).to.equal(4)
    expect(JSON.parse(stdout)).to.have.nested.property('error.exit', 4)
  })

  const BAD: readonly (readonly [string, readonly string[], number, RegExp])[] = [
    [
      'no daemon',
      [],
      3,
      /^ashlar: no daemon listens at \S+ or 127\.0\.0\.1:1: start devedged, or "npx ashlar-idp edge", then run this again\n$/,
    ],
    ['port 0', ['--port', '0'], 2, /--port is 1 or more, and not 0/],
    ['port 70000', ['--port', '70000'], 2, /--port is at most 65535, and not 70000/],
    ['a port that is not a number', ['--port', '80a'], 2, /--port takes a whole number, and “80a” is none/],
    ['a host without a dot', ['--host', 'idp'], 2, /--host: "idp"/],
    ['a host that is a URL', ['--host', 'https://idp.dev.test'], 2, /--host: "https:\/\/idp\.dev\.test"/],
    ['an upstream that is not a URL', ['--upstream', 'localhost'], 2, /--upstream: "localhost"/],
    ['an upstream without a scheme', ['--upstream', 'localhost:8080'], 2, /--upstream: "localhost:8080"/],
    ['an unknown flag', ['--prot', '1'], 2, /--prot\b.*--port\b/],
  ]
  for (const [name, args, exit, says] of BAD)
    it(`ends with ${exit} and one line: ${name}`, async () => {
      const ran = await up(...args)
      expect(ran.stderr)
        .to.match(/^ashlar: [^\n]+\n$/)
        .and.match(says)
      expect([ran.exit, ran.stdout]).to.deep.equal([exit, ''])
    })

  it('registers nothing when a flag is wrong', async () => {
    const { calls } = await start()
    await up('--host', 'idp')
    expect(calls).to.deep.equal([])
  })

  it('ends with 3 and one line when the daemon returns nonsense', async () => {
    await start({ mode: 'garbage' })
    const { exit, stderr } = await up()
    expect(stderr).to.match(/^ashlar: [^\n]*devedged\.sock[^\n]*\n$/)
    expect(exit).to.equal(3)
  })
})
