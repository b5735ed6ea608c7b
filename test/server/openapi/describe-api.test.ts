import { expect } from 'chai'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { apiKey } from '../../../lib/server/authn/api-key.js'
import type { Config } from '../../../lib/server/config/config.js'
import { devAuthorizer } from '../../../lib/server/authz/dev-authorizer.js'
import { verifiedPrincipal } from '../../../lib/server/config/verified-principal.js'
import { openApi } from '../../../lib/server/openapi/open-api.js'
import { ServerBuilder } from '../../../lib/server/server-builder.js'
import { EchoService } from '../../support/gen/specimens_pb.js'
import { echoService } from '../../support/grpc/echo.js'
import { Described } from '../../support/openapi/described.js'
import { DescribedClient } from '../../support/openapi/described-client.js'
import { servicesOf } from '../../support/openapi/protos.js'
import { ALL, recordingLogger, type RunningServer, startServer } from '../../support/servers/server.js'

describe('a server that describes itself', () => {
  const environment = process.env['NODE_ENV']
  let running: RunningServer | undefined
  afterEach(async () => {
    await running?.stop()
    running = undefined
    if (environment === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = environment
  })

  const start = async (nodeEnv: string, config: Config = {}): Promise<RunningServer> => {
    process.env['NODE_ENV'] = nodeEnv
    return (running = await startServer((builder) => builder.register(EchoService, echoService), config))
  }
  const get = (path: string, init?: RequestInit): Promise<Response> =>
    fetch(`${running?.http ?? ''}${path}`, init)
  const statuses = async (): Promise<readonly number[]> => [
    (await get('/openapi.json')).status,
    (await get('/docs')).status,
  ]
  const rejection = async (config: Config): Promise<string> =>
    start('production', config).then(
      () => 'started',
      (error: unknown) => (error as Error).message,
    )

  it('serves the document and the page in development', async () => {
    await start('development')
    expect(await statuses()).to.deep.equal([200, 200])
    const response = await get('/openapi.json')
    expect(response.headers.get('content-type')).to.equal('application/json')
    expect(response.headers.get('x-content-type-options')).to.equal('nosniff')
    expect(await response.text()).to.equal(await running?.server.openApi())
  })

  it('serves neither in production, and each when it is asked for', async () => {
    await start('production')
    expect(await statuses()).to.deep.equal([404, 404])
    await running?.stop()
    await start('production', { gateway: { openapi: true } })
    expect(await statuses()).to.deep.equal([200, 404])
    await running?.stop()
    await start('production', { gateway: { docs: true } })
    expect(await statuses()).to.deep.equal([200, 200])
    await running?.stop()
    await start('development', { gateway: { openapi: false } })
    expect(await statuses()).to.deep.equal([404, 404])
    await running?.stop()
    await start('development', { gateway: { docs: false } })
    expect(await statuses()).to.deep.equal([200, 404])
  })

  it('leaves paths to handlers of an application, and refuses to start when it is asked for them', async () => {
    const httpHandlers = [{ pattern: '/docs', handler: () => new Response('mine') }]
    await start('development', { httpHandlers })
    expect(await (await get('/docs')).text()).to.equal('mine')
    expect((await get('/openapi.json')).status).to.equal(200)
    await running?.stop()
    expect(await rejection({ httpHandlers, gateway: { docs: true } })).to.include('docs needs /docs')
    const own = [{ pattern: '/openapi.json', handler: () => new Response('mine') }]
    expect(await rejection({ httpHandlers: own, gateway: { openapi: true } })).to.include(
      'openapi needs /openapi.json',
    )
  })

  it('has a document that is read only', async () => {
    await start('development')
    const { status, headers } = await get('/openapi.json', { method: 'POST' })
    expect([status, headers.get('allow')]).to.deep.equal([405, 'GET, HEAD'])
    const head = await get('/openapi.json', { method: 'HEAD' })
    expect([head.status, await head.text()]).to.deep.equal([200, ''])
  })

  it('leaves the paths of an app that it is mounted in alone, unless it is asked for them', async () => {
    process.env['NODE_ENV'] = 'development'
    for (const [gateway, wanted] of [
      [{}, 404],
      [{ openapi: true }, 200],
    ] as const) {
      const server = new ServerBuilder({ grpcAddr: '127.0.0.1:0', logger: recordingLogger(), gateway })
        .register(EchoService, echoService)
        .build()
      const app = createServer(server.httpListener()).listen(0, '127.0.0.1')
      const controller = new AbortController()
      const served = server.serve(controller.signal)
      await Promise.race([server.ready(), served])
      const { port } = app.address() as AddressInfo
      const { status } = await fetch(`http://127.0.0.1:${port}/openapi.json`)
      controller.abort()
      await served
      app.closeAllConnections()
      app.close()
      expect(status).to.equal(wanted)
    }
  })

  it('describes the operations that it serves beside a method that starts them', async () => {
    const [service] = servicesOf({
      package: 'slow.v1',
      messages: { Request: { id: 'string' } },
      service: 'Slow',
      methods: {
        Start: {
          ...{ input: 'Request', output: '.google.longrunning.Operation' },
          http: { pattern: { case: 'post', value: '/v1/slow:start' }, body: '*' },
        },
      },
    })
    const text = await openApi(service === undefined ? [] : [service])
    const { operations } = new Described(text)
    expect(operations.map(({ operationId }) => operationId)).to.include.members([
      'slow.v1.Slow.Start',
      'google.longrunning.Operations.GetOperation',
      'google.longrunning.Operations.CancelOperation',
    ])
  })

  it('refuses a page without a document, and a name that it does not know', async () => {
    expect(await rejection({ gateway: { docs: true, openapi: false } })).to.include(
      'docs shows what openapi serves',
    )
    expect(await rejection({ gateway: { openapi: { image: Buffer.from('no image') } } })).to.include(
      'openapi: the image',
    )
    expect(await rejection({ gateway: { openapi: { titel: 'x' } as object } })).to.include('title')
  })

  it('says nothing of development in production', async () => {
    const config = {
      gateway: { openapi: true },
      principalFunc: verifiedPrincipal,
      authorizer: devAuthorizer([]),
      allowDevelopment: false,
    }
    await start('production', config)
    const text = await (await get('/openapi.json')).text()
    for (const word of ['account-id', 'groups', 'x-denied-because', 'evelopment', 'securitySchemes'])
      expect(text).to.not.include(word)
  })

  describe('with an authenticator and a rate limiter', () => {
    const keys = apiKey({
      verify: (token) =>
        Promise.resolve(token === 'good' ? { ok: true, record: 1 } : { ok: false, record: undefined }),
      principal: () => ({ subject: 'robot', tenant: 'acme' }),
    })
    let shed = false
    const limited: unknown = { msBeforeNext: 1500 }
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- as rate-limiter-flexible does
    const rateLimiter = { consume: () => (shed ? Promise.reject(limited) : Promise.resolve()) }
    const config = {
      authenticator: keys,
      principalFunc: verifiedPrincipal,
      authorizer: devAuthorizer([ALL]),
    } as const

    it('names the scheme, and what wrong tokens and too many calls get', async () => {
      await start('development', { ...config, resilience: { rateLimiter } })
      const text = await (await get('/openapi.json')).text()
      const client = new DescribedClient(new Described(text), running?.http ?? '', {
        authorization: 'Bearer good',
      })
      expect(client.described.at('/components/securitySchemes')).to.deep.equal({
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'API key' },
      })
      expect(client.described.document['security']).to.deep.equal([{ bearer: [] }])
      for (const { operationId, variables, statuses } of client.described.operations) {
        if (!statuses.includes('403')) continue
        const path = Object.fromEntries(variables.map((name) => [name, 'x']))
        await client.call(operationId, 401, { path, headers: { authorization: 'Bearer bad' } })
      }
      shed = true
      const [first] = client.described.operations
      if (first === undefined) throw new Error('there are operations')
      const path = Object.fromEntries(first.variables.map((name) => [name, 'x']))
      const { headers } = await client.call(first.operationId, 429, { path })
      expect(headers.get('retry-after')).to.equal('2')
    })
  })

  describe('on its page', () => {
    beforeEach(() =>
      start('development', { gateway: { openapi: { servers: [{ url: 'https://api.example.com/v2' }] } } }),
    )

    it('loads nothing from elsewhere, by its text and by its policy', async () => {
      const response = await get('/docs')
      const html = await response.text()
      expect(html).to.not.match(/https?:|\/\//)
      const policy = response.headers.get('content-security-policy') ?? ''
      expect(policy).to.include("default-src 'none'").and.include("script-src 'self';")
      expect(policy).to.include("connect-src 'self' https://api.example.com;")
      const files = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, name = '']) => name)
      expect(files).to.have.length(4)
      for (const file of files) {
        const { status, headers } = await get(`/${file}`)
        expect([status, headers.get('content-security-policy')], file).to.deep.equal([200, policy])
      }
      const script = await (await get('/docs/start.js')).text()
      expect(script).to.include('validatorUrl: null').and.include('queryConfigEnabled: false')
    })

    for (const path of [
      '/docs/package.json',
      '/docs/../package.json',
      '/docs/%2e%2e/package.json',
      '/docs/..%2fpackage.json',
      '/docs/constructor',
      '/docs/swagger-ui.css/x',
    ])
      it(`has nothing at ${path}`, async () => {
        expect((await get(path)).status).to.equal(404)
      })

    it('is read only, and has one address', async () => {
      expect((await get('/docs', { method: 'POST' })).status).to.equal(405)
      expect((await get('/docs', { method: 'HEAD' })).status).to.equal(200)
      const moved = await get('/docs/', { redirect: 'manual' })
      expect([moved.status, moved.headers.get('location')]).to.deep.equal([308, '../docs'])
    })
  })
})
