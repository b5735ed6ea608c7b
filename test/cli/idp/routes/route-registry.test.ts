import { expect } from 'chai'
import { mkdirSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { dirname, join } from 'node:path'
import type { DaemonAddress } from '../../../../cli/idp/routes/daemon-address.js'
import { CALL_TIMEOUT_MS } from '../../../../cli/idp/routes/daemon-client.js'
import { findRegistry, register, usableRoutes } from '../../../../cli/idp/routes/route-registry.js'
import {
  type RouteDaemon,
  type RouteDaemonOptions,
  startRouteDaemon,
} from '../../../support/servers/route-daemon.js'

const SHORT_MS = 300

describe('the route registry', () => {
  const running: RouteDaemon[] = []
  const start = async (options: RouteDaemonOptions = {}): Promise<RouteDaemon> => {
    const daemon = await startRouteDaemon(options)
    running.push(daemon)
    return daemon
  }
  afterEach(async () => {
    await Promise.all(running.splice(0).map((daemon) => daemon.close()))
  })
  const failureOf = async (work: Promise<unknown>): Promise<{ exit: string; message: string }> =>
    work.then(
      () => expect.fail('it succeeds'),
      (error: unknown) => error as { exit: string; message: string },
    )

  for (const over of ['unix', 'tcp'] as const) {
    it(`lists the routes over ${over}`, async () => {
      const tile = {
        display_name: 'Shop',
        description: 'Buy',
        icon_url: '/i.svg',
        launch_url: 'https://w.dev.test/go',
      }
      const { address } = await start({
        over,
        routes: [
          {
            host: 'Web.dev.test',
            upstream: 'http://127.0.0.1:1',
            project: 'shop',
            owner: 'me',
            ttl: '30s',
            path: '/',
            tile,
          },
          { host: 'db', upstream: '127.0.0.1:5432', protocol: 'tcp' },
        ],
        random: () => 0,
      })
      const from = { path: '', fromFile: false }
      expect(await findRegistry([address])).to.deep.equal({
        address,
        routes: [
          {
            ...from,
            host: 'Web.dev.test',
            upstream: 'http://127.0.0.1:1',
            protocol: 'http',
            project: 'shop',
            tile: {
              displayName: 'Shop',
              description: 'Buy',
              iconURL: '/i.svg',
              launchURL: 'https://w.dev.test/go',
            },
          },
          { ...from, host: 'db', upstream: '127.0.0.1:5432', protocol: 'tcp', project: '' },
        ],
      })
    })

    it(`registers over ${over}`, async () => {
      const daemon = await start({ over })
      const route = {
        host: 'idp.dev.test',
        upstream: 'http://127.0.0.1:8080',
        project: 'idp',
        owner: 'de-idp',
      }
      await register(daemon.address, route)
      expect(
        daemon.calls.map(({ method, url, body }) => [method, url, JSON.parse(body) as unknown]),
      ).to.deep.equal([['PUT', '/v1/routes', route]])
      expect(daemon.routes()).to.deep.equal([route])
    })
  }

  it('takes hosts as they are in URLs', async () => {
    const { address } = await start({
      routes: [
        { host: 'Web.dev.test.', upstream: 'http://127.0.0.1:1' },
        { host: 'DB', upstream: '127.0.0.1:5432', protocol: 'TCP' },
      ],
      random: () => 0,
    })
    const registry = await findRegistry([address])
    expect(registry && usableRoutes(registry, () => {}).map(({ host }) => host)).to.deep.equal([
      'web.dev.test',
      'DB',
    ])
  })

  it('does not list a route whose lease has ended', async () => {
    let now = 0
    const { address } = await start({
      routes: [
        { host: 'a.dev.test', upstream: 'http://127.0.0.1:1', ttl: '30s' },
        { host: 'b.dev.test', upstream: 'http://127.0.0.1:2' },
      ],
      now: () => now,
    })
    const hosts = async (): Promise<readonly string[] | undefined> =>
      (await findRegistry([address]))?.routes.map(({ host }) => host).toSorted()
    expect(await hosts()).to.deep.equal(['a.dev.test', 'b.dev.test'])
    now = 30_000
    expect(await hosts()).to.deep.equal(['b.dev.test'])
  })

  it('takes the place of an owner whose lease has ended', async () => {
    let now = 0
    const { address } = await start({
      routes: [{ host: 'idp.dev.test', upstream: 'http://127.0.0.1:1', owner: 'them', ttl: '1m' }],
      now: () => now,
    })
    const route = { host: 'idp.dev.test', upstream: 'http://127.0.0.1:2', project: 'idp', owner: 'me' }
    expect(await failureOf(register(address, route))).to.include({ exit: 'conflict' })
    now = 60_000
    await register(address, route)
  })

  it('finds nothing where nobody listens: no socket, a plain file, an empty port', async () => {
    const daemon = await start()
    const { socketPath } = daemon.address as { socketPath: string }
    const plain = join(dirname(socketPath), 'plain')
    mkdirSync(plain)
    writeFileSync(join(plain, 'devedged.sock'), '')
    const silent: readonly DaemonAddress[] = [
      { socketPath: join(dirname(socketPath), 'none.sock') },
      { socketPath: join(plain, 'devedged.sock') },
      { host: '127.0.0.1', port: 1 },
    ]
    expect(await findRegistry(silent)).to.equal(undefined)
    expect((await findRegistry([...silent, daemon.address]))?.address).to.equal(daemon.address)
  })

  it('reads the empty list of a daemon that says null', async () => {
    const { address } = await start({ mode: (response) => void response.end('null') })
    expect((await findRegistry([address]))?.routes).to.deep.equal([])
  })

  const answering =
    (status: number, body: string | Buffer) =>
    (response: ServerResponse): void =>
      void response.writeHead(status).end(body)
  const NONSENSE: readonly (readonly [string, RouteDaemonOptions['mode'], RegExp])[] = [
    ['is silent', 'hung', /did not respond in 0\.3 s: restart it, or stop it to continue without it/],
    ['never ends its response', 'dripping', /did not respond in 0\.3 s/],
    ['speaks no HTTP', 'garbage', /does not speak HTTP/],
    ['hangs up', 'hanging-up', /does not speak HTTP \(E(CONNRESET|PIPE)\)/],
    ['returns HTML', answering(200, '<html>'), /its response is not JSON/],
    ['returns half a list', answering(200, '[{"host":'), /its response is not JSON/],
    ['returns nothing', answering(200, ''), /its response is not JSON/],
    ['returns an object', answering(200, '{"routes":[]}'), /its response is not a list/],
    ['lists text', answering(200, '["a"]'), /an entry of its list is not a route/],
    ['lists null', answering(200, '[null]'), /an entry of its list is not a route/],
    ['lists a numeric host', answering(200, '[{"host":1}]'), /host of a route is not a string/],
    [
      'lists a tile that is text',
      answering(200, '[{"host":"a.dev.test","tile":"x"}]'),
      /the tile of a\.dev\.test is not an object/,
    ],
    ['has a mistake', answering(500, 'boom\u001b[31m\n'), /GET \/v1\/routes returned: boom\uFFFD\[31m/],
    ['knows no such path', answering(404, ''), /returned: status 404/],
    ['redirects', answering(302, ''), /returned: status 302/],
    [
      'sends a response without end',
      answering(200, Buffer.alloc(9 << 20, ' ')),
      /returned more than 8 MiB: is it the devedge daemon\?/,
    ],
  ]
  for (const [name, mode, message] of NONSENSE)
    it(`fails when the daemon ${name}`, async () => {
      const { address } = await start(mode === undefined ? {} : { mode })
      const timeoutMs = mode === 'hung' || mode === 'dripping' ? SHORT_MS : CALL_TIMEOUT_MS
      const failure = await failureOf(findRegistry([address, { host: '127.0.0.1', port: 1 }], timeoutMs))
      expect(failure.message).to.match(message)
      expect(failure.exit).to.equal('daemon')
    })

  const ROUTES: readonly (readonly [string, object, RegExp])[] = [
    ['a host without a dot', { host: 'web' }, /^a route of the daemon at .*: "web"/],
    ['no host', {}, /: ""/],
    ['a host that is a URL', { host: 'https://a.dev.test/' }, /: "https:\/\/a\.dev\.test\/"/],
    [
      'a link that runs code',
      { host: 'a.dev.test', tile: { launch_url: 'java\nscript:alert(1)' } },
      /the tile of a\.dev\.test\.launchURL: .*\bjavascript:/,
    ],
  ]
  for (const [name, route, message] of ROUTES)
    it(`leaves out a registered route with ${name}, and says why`, async () => {
      const { address } = await start({ mode: answering(200, JSON.stringify([route])) })
      const registry = await findRegistry([address])
      const leftOut: string[] = []
      expect(registry && usableRoutes(registry, (why) => leftOut.push(why))).to.deep.equal([])
      expect(leftOut.join()).to.match(message)
    })

  const REFUSALS: readonly (readonly [string, RouteDaemonOptions['mode'], string, RegExp])[] = [
    [
      'a conflict',
      answering(409, 'host is owned by them\n'),
      'conflict',
      /idp\.dev\.test belongs to another owner \(host is owned by them\): choose another --host/,
    ],
    ['a bad request', answering(400, 'invalid ttl'), 'daemon', /rejected idp\.dev\.test: invalid ttl/],
    ['a mistake', answering(503, ''), 'daemon', /rejected idp\.dev\.test: status 503/],
    ['silence', 'hung', 'daemon', /did not respond in 0\.3 s/],
  ]
  for (const [name, mode, exit, message] of REFUSALS)
    it(`says why a route was not registered: ${name}`, async () => {
      const { address } = await start(mode === undefined ? {} : { mode })
      const route = {
        host: 'idp.dev.test',
        upstream: 'http://127.0.0.1:8080',
        project: 'idp',
        owner: 'de-idp',
      }
      const failure = await failureOf(register(address, route, mode === 'hung' ? SHORT_MS : CALL_TIMEOUT_MS))
      expect(failure.message).to.match(message)
      expect(failure.exit).to.equal(exit)
    })

  it('says that the daemon has gone when it has', async () => {
    const daemon = await startRouteDaemon()
    await daemon.close()
    const route = { host: 'idp.dev.test', upstream: 'http://127.0.0.1:8080', project: 'idp', owner: 'de-idp' }
    expect(await failureOf(register(daemon.address, route))).to.include({ exit: 'daemon' })
  })
})
