import { create } from '@bufbuild/protobuf'
import { ServiceDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { credentials } from '@grpc/grpc-js'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { Metadata as NiceMetadata } from 'nice-grpc'
import { Health } from '../../lib/gen/grpc/health/v1/health_pb.js'
import { RequestContext } from '../../lib/context.js'
import { devPrincipal } from '../../lib/server/authn/dev-principal.js'
import { devAuthorizer } from '../../lib/server/authz/dev-authorizer.js'
import type { ServerCall } from '../../lib/call.js'
import { ServerBuilder } from '../../lib/server/server-builder.js'
import { CredentialMinter } from '../../lib/secrets/credential-minter.js'
import { newDev } from '../../lib/secrets/dev-encryptor.js'
import type { Encryptor } from '../../lib/secrets/encryptor.js'
import { memoryRepositoryOf } from '../../lib/persistence/repository-of.js'
import { type EchoRequest, EchoService, SpecimenService } from '../support/gen/specimens_pb.js'
import { Specimen } from '../support/entities/specimen.js'
import { altered } from '../support/grpc/altered.js'
import { ForeignClient, niceClient } from '../support/grpc/clients.js'
import {
  ALICE,
  ALL,
  post,
  recordingLogger,
  type RunningServer,
  startServer,
} from '../support/servers/server.js'
import { MemoryIdempotencyStore } from '../../lib/server/idempotency/memory-idempotency-store.js'
import { echoService } from '../support/grpc/echo.js'

const SpecimenMemory = memoryRepositoryOf(Specimen)
const withEcho = (builder: ServerBuilder) => builder.register(EchoService, echoService)

describe('a call', () => {
  let running: RunningServer
  let client: ForeignClient
  let seen: { call: ServerCall; current: RequestContext } | undefined

  before(async () => {
    const note = (_request: unknown, call: ServerCall) => {
      seen = { call, current: RequestContext.current() }
      return { text: 'seen' }
    }
    running = await startServer((builder) =>
      builder.register(EchoService, {
        ...echoService,
        echo: note,
        count: async function* (_request, call) {
          yield await Promise.resolve(note(_request, call))
        },
      }),
    )
    client = new ForeignClient(EchoService, running.grpc)
  })

  after(async () => {
    client.close()
    await running.stop()
  })

  const ids: readonly (readonly [string, string, boolean])[] = [
    ['a plain id', 'req-1', true],
    ['128 characters', 'x'.repeat(128), true],
    ['129 characters', 'x'.repeat(129), false],
    ['a space', 'a b', false],
    ['an umlaut', 'ä', false],
    ['nothing', '', false],
  ]
  for (const [name, id, kept] of ids)
    it(`${kept ? 'keeps' : 'replaces'} a request id of ${name}`, async () => {
      if (/^[\x20-\x7e]*$/.test(id)) {
        const { headers } = await client.unary('Echo', {}, { ...ALICE, 'x-request-id': id })
        const [answered = ''] = headers.get('x-request-id')
        expect(answered === id).to.equal(kept)
        expect(answered).to.match(/^[\x21-\x7e]{1,128}$/)
        expect(seen?.call.requestId).to.equal(answered)
      }
      const response = await fetch(`${running.http}/v1/ping`, { headers: { 'x-request-id': id } })
      expect(response.headers.get('x-request-id') === id).to.equal(kept)
    })

  it('gives its handler principal, context, metadata and signal, and makes the context the current one', async () => {
    for (const run of [() => client.unary('Echo', {}, ALICE), () => client.stream('Count', [{}], ALICE)]) {
      seen = undefined
      await run()
      const { call, current } = seen as unknown as { call: ServerCall; current: RequestContext }
      expect(call.principal).to.deep.equal({
        subject: 'alice',
        tenant: 'acme',
        groups: ['makers'],
        scopes: [],
      })
      expect(call.context).to.equal(current)
      expect(current.principal).to.equal(call.principal)
      expect(current.requestId).to.equal(call.requestId)
      expect(call.metadata.get('account-id')).to.equal('acme')
      expect(call.signal.aborted).to.equal(false)
      expect(call.peer).to.match(/^127\.0\.0\.1:\d+$/)
      expect(call.ignoredMask).to.deep.equal([])
      expect(call.validateOnly).to.equal(false)
    }
  })

  it('leaves no context behind for what comes after it', () => {
    expect(RequestContext.current().requestId).to.equal('')
  })

  it('is one log record with code, duration and who', async () => {
    running.records.length = 0
    await client.unary('Echo', {}, ALICE)
    await client.stream('Count', [{}], ALICE)
    await fetch(`${running.http}/v1/ping`)
    expect(running.records.map(({ level, message }) => [level, message])).to.deep.equal(
      Array(3).fill(['info', 'rpc']),
    )
    const [unary, stream, http] = running.records.map(({ fields }) => fields)
    expect(unary).to.include({
      method: '/specimens.v1.EchoService/Echo',
      code: 'OK',
      transport: 'grpc',
      tenant: 'acme',
      subject: 'alice',
    })
    expect(stream).to.include({ method: '/specimens.v1.EchoService/Count', code: 'OK', transport: 'grpc' })
    expect(http).to.include({
      method: '/specimens.v1.EchoService/Ping',
      code: 'OK',
      transport: 'http',
      tenant: '',
      subject: '',
    })
    for (const { fields } of running.records) expect(fields['durationMs']).to.be.a('number')
  })

  it('reaches a nice-grpc client over the adapted definition', async () => {
    const { client: nice, close } = niceClient(EchoService, running.grpc)
    const metadata = NiceMetadata(ALICE)
    expect((await nice.echo({ text: 'hi' }, { metadata })).text).to.equal('seen')
    const shouted: string[] = []
    const say = async function* () {
      yield* ['a', 'b'].map((text) => ({ text }))
    }
    for await (const { text } of nice.chat(say(), { metadata })) shouted.push(text)
    expect(shouted).to.deep.equal(['A', 'B'])
    expect((await nice.collect(say(), { metadata })).text).to.equal('a b')
    close()
  })

  it('is refused beyond 4 MiB, and the connection goes on', async () => {
    const { code } = await client.unary('Echo', { text: 'x'.repeat(5 * 1024 * 1024) }, ALICE)
    expect(code).to.equal(8)
    expect((await client.unary('Echo', {}, ALICE)).code).to.equal(0)
  })

  it('of a method that is not there is Unimplemented', async () => {
    const raw = new (await import('@grpc/grpc-js')).Client(running.grpc, credentials.createInsecure())
    const code = await new Promise((resolve) =>
      raw.makeUnaryRequest(
        '/specimens.v1.EchoService/Nope',
        (b: Buffer) => b,
        (b) => b,
        Buffer.alloc(0),
        (error) => resolve(error?.code),
      ),
    )
    raw.close()
    expect(code).to.equal(12)
  })
})

describe('serve', () => {
  it('takes a service that has no methods yet', async () => {
    const { file } = altered(EchoService, (proto) => {
      proto.file.service.push(create(ServiceDescriptorProtoSchema, { name: 'EmptyService' }))
    })
    const empty = file.services.filter(({ methods }) => methods.length === 0)
    expect(empty).to.have.length(1)
    const running = await startServer((builder) => {
      for (const service of empty) builder.register(service, {})
    })
    await running.stop()
  })

  it('binds :0 on every interface and says where', async () => {
    const running = await startServer(withEcho, { grpcAddr: ':0', httpAddr: ':0' })
    expect(running.server.grpcAddr()).to.match(/^0\.0\.0\.0:[1-9]\d+$/)
    expect(running.server.httpAddr()).to.match(/^0\.0\.0\.0:[1-9]\d+$/)
    expect((await fetch(`${running.http}/v1/ping`)).status).to.equal(200)
    await running.stop()
  })

  it('has no HTTP address, mux or registration without a gateway', async () => {
    const server = withEcho(new ServerBuilder({ grpcAddr: '127.0.0.1:0', logger: recordingLogger() })).build()
    server.registerGateway(() => expect.fail('registered without a gateway'))
    const controller = new AbortController()
    const served = server.serve(controller.signal)
    await server.ready()
    expect([server.httpAddr(), server.gatewayMux()]).to.deep.equal(['', undefined])
    controller.abort()
    await served
  })

  it('runs gateway registrations before it binds', async () => {
    const running = await startServer((builder) =>
      withEcho(builder).httpHandler('/hello', async (request) => new Response(request.method)),
    )
    expect(await (await fetch(`${running.http}/hello`)).text()).to.equal('GET')
    await running.stop()

    const server = withEcho(
      new ServerBuilder({ grpcAddr: '127.0.0.1:0', httpAddr: '127.0.0.1:0', logger: recordingLogger() }),
    ).build()
    server.registerGateway(
      async (mux) => void mux.handle('/late', async () => new Response(`bound ${server.httpAddr()}`)),
    )
    server.gatewayMux()?.handle('/mux', async () => new Response('mux'))
    const controller = new AbortController()
    const served = server.serve(controller.signal)
    await server.ready()
    const url = `http://${server.httpAddr()}`
    expect(await (await fetch(`${url}/late`)).text()).to.equal(`bound ${server.httpAddr()}`)
    expect(await (await fetch(`${url}/mux`)).text()).to.equal('mux')
    controller.abort()
    await served
  })

  it('refuses a handler that claims a probe', () => {
    const config = {
      grpcAddr: ':0',
      httpAddr: ':0',
      httpHandlers: [{ pattern: '/readyz', handler: async () => new Response() }],
    }
    expect(() => new ServerBuilder(config).build()).to.throw(/reserved for the probe/)
  })

  for (const field of ['grpcAddr', 'httpAddr'] as const)
    it(`rejects with the error when ${field} is taken, and leaves nothing bound`, async () => {
      const occupant = createServer()
      await new Promise<void>((resolve) => void occupant.listen(0, '127.0.0.1', resolve))
      const { port } = occupant.address() as { port: number }
      const config = {
        grpcAddr: '127.0.0.1:0',
        httpAddr: '127.0.0.1:0',
        [field]: `127.0.0.1:${port}`,
        logger: recordingLogger(),
      }
      const server = withEcho(new ServerBuilder(config)).build()
      const error = await server.serve(new AbortController().signal).catch((thrown: Error) => thrown)
      expect(error)
        .to.be.instanceOf(Error)
        .with.property('message')
        .match(/EADDRINUSE|bind/)
      if (server.grpcAddr() !== '') {
        const client = new ForeignClient(EchoService, server.grpcAddr())
        expect((await client.unary('Ping', {})).code).to.equal(14)
        client.close()
      }
      occupant.close()
    })

  it('serves nothing when its signal has aborted already', async () => {
    const server = withEcho(new ServerBuilder({ grpcAddr: ':0', logger: recordingLogger() })).build()
    await server.serve(AbortSignal.abort())
    expect(server.grpcAddr()).to.equal('')
  })

  describe('with what is meant for development', () => {
    const development: readonly (readonly [string, object, RegExp | undefined])[] = [
      ['the development principal', { principalFunc: devPrincipal }, /devPrincipal trusts headers/],
      [
        'a development authorizer with grants',
        { authorizer: devAuthorizer([ALL]) },
        /devAuthorizer has grants/,
      ],
      ['a development authorizer without grants', { authorizer: devAuthorizer() }, undefined],
      ['the principal, allowed', { principalFunc: devPrincipal, allowDevelopment: true }, undefined],
    ]
    const serve = async (config: object, encryptor?: Encryptor) => {
      const builder = withEcho(
        new ServerBuilder({ grpcAddr: '127.0.0.1:0', logger: recordingLogger(), ...config }),
      )
      if (encryptor !== undefined)
        builder.register(SpecimenService, new SpecimenMemory({ encryptor, minter: new CredentialMinter() }), {
          weighSpecimen: () => ({}),
        })
      const server = builder.build()
      const controller = new AbortController()
      const served = server.serve(controller.signal).then(
        () => 'served',
        (error: Error) => error.message,
      )
      await Promise.race([server.ready().catch(() => {}), served])
      controller.abort()
      return served
    }
    const environment = process.env['NODE_ENV']
    afterEach(() => {
      if (environment === undefined) delete process.env['NODE_ENV']
      else process.env['NODE_ENV'] = environment
    })

    it('refuses a repository with an encryptor for development, unless that is allowed', async () => {
      process.env['NODE_ENV'] = 'production'
      expect(await serve({}, newDev(Buffer.alloc(32)))).to.match(/specimen encrypts its secrets with newDev/)
      expect(await serve({ allowDevelopment: true }, newDev(Buffer.alloc(32)))).to.equal('served')
    })

    it('warns once in production that idempotency keys are stored in memory, unless a store is configured', async () => {
      for (const [env, config, warnings] of [
        ['production', {}, 1],
        ['production', { idempotencyStore: new MemoryIdempotencyStore() }, 0],
        ['development', {}, 0],
      ] as const) {
        process.env['NODE_ENV'] = env
        const logger = recordingLogger()
        expect(await serve({ ...config, allowDevelopment: true, logger })).to.equal('served')
        const told = logger.records.filter(
          ({ level, message }) => level === 'warn' && /in memory/.test(message),
        )
        expect(told, env).to.have.length(warnings)
      }
    })

    for (const [name, config, text] of development) {
      for (const env of [undefined, 'production', 'staging'])
        it(`${text === undefined ? 'takes' : 'refuses'} ${name} when NODE_ENV is ${env ?? 'not set'}`, async () => {
          if (env === undefined) delete process.env['NODE_ENV']
          else process.env['NODE_ENV'] = env
          expect(await serve(config)).to.match(text ?? /^served$/)
        })
      for (const env of ['development', 'test'])
        it(`takes ${name} when NODE_ENV is ${env}`, async () => {
          process.env['NODE_ENV'] = env
          expect(await serve(config)).to.equal('served')
        })
    }
  })
})

describe('shutdown', () => {
  it('lets running calls end and refuses new ones', async () => {
    let release = () => {}
    let entered = () => {}
    const inside = new Promise<void>((resolve) => (entered = resolve))
    const running = await startServer((builder) =>
      builder.register(EchoService, {
        ...echoService,
        echo: async (request: EchoRequest) => {
          entered()
          await new Promise<void>((resolve) => (release = resolve))
          return { text: request.text }
        },
      }),
    )
    const client = new ForeignClient(EchoService, running.grpc)
    const pending = client.unary('Echo', { text: 'last' }, ALICE)
    await inside
    const stopped = running.stop()
    const late = new ForeignClient(EchoService, running.grpc)
    // The listener is closed a moment after stop() was called.
    while ((await late.unary('Ping', {})).code !== 14);
    release()
    expect((await pending).answer).to.include({ text: 'last' })
    await stopped
    client.close()
    late.close()
  })

  it('ends what does not end by itself, HTTP and gRPC alike, after 5 seconds in all', async () => {
    const signals: AbortSignal[] = []
    const running = await startServer((builder) =>
      builder.register(EchoService, {
        ...echoService,
        echo: (_request, { signal }) => {
          signals.push(signal)
          return new Promise<never>(() => {})
        },
      }),
    )
    const client = new ForeignClient(EchoService, running.grpc)
    const stuck = client.unary('Echo', {}, ALICE)
    const hung = fetch(`${running.http}/v1/echo`, post(ALICE)).catch((error: unknown) => error)
    while (signals.length < 2) await new Promise(setImmediate)
    await running.stop()
    const { code, details } = await stuck
    expect([code, details]).to.deep.equal([14, 'the server is shutting down: try again'])
    expect(await hung).to.include({ status: 503 })
    client.close()
  })
})

describe('health', () => {
  it('returns the status of the server and of each service, and NotFound for others', async () => {
    const running = await startServer(withEcho)
    const client = new ForeignClient(Health, running.grpc)
    const rows: readonly (readonly [string, number, string | undefined])[] = [
      ['', 0, 'SERVING'],
      ['specimens.v1.EchoService', 0, 'SERVING'],
      ['grpc.health.v1.Health', 0, 'SERVING'],
      ['nobody.v1.Nothing', 5, undefined],
    ]
    for (const [service, code, status] of rows) {
      const outcome = await client.unary('Check', { service })
      expect([service, outcome.code, outcome.answer?.['status']]).to.deep.equal([service, code, status])
    }
    client.close()
    await running.stop()
  })

  for (const [reflection, names] of [
    [true, ['', 'grpc.health.v1.Health', 'specimens.v1.EchoService']],
    [false, ['']],
  ] as const)
    it(`lists ${reflection ? 'each service' : 'the server alone'} with reflection: ${reflection}`, async () => {
      const running = await startServer(withEcho, { reflection })
      const client = new ForeignClient(Health, running.grpc)
      const { answer } = await client.unary('List', {})
      const statuses = answer?.['statuses'] as { key: string; value: { status: string } }[]
      expect(statuses.map(({ key }) => key)).to.include.members([...names])
      expect(statuses.length > 1).to.equal(reflection)
      expect(statuses.every(({ value }) => value.status === 'SERVING')).to.equal(true)
      client.close()
      await running.stop()
    })

  it('keeps no watch of a name that is none', async () => {
    const running = await startServer(withEcho)
    const { client, close } = niceClient(Health, running.grpc)
    const watched = async (service: string) => {
      const statuses = client.watch({ service })[Symbol.asyncIterator]()
      const first = await statuses.next().then(
        ({ value }) => ['status', (value as { status: number }).status],
        (error: unknown) => ['code', (error as { code: number }).code],
      )
      await statuses.return?.()
      return first
    }
    expect(await watched('a'.repeat(1024))).to.deep.equal(['status', 3])
    expect(await watched('a'.repeat(1025))).to.deep.equal(['code', 3])
    close()
    await running.stop()
  })

  it('follows the readiness checks, in Check, Watch and /readyz', async () => {
    let ready = false
    const check = () => {
      if (!ready) throw new Error('password=hunter2')
    }
    const running = await startServer(withEcho, { readinessChecks: [{ name: 'database', check }] })
    const { client, close } = niceClient(Health, running.grpc)
    const statuses = client.watch({})[Symbol.asyncIterator]()
    const next = async () => ((await statuses.next()).value as { status: number } | undefined)?.status
    const probe = async () => {
      const response = await fetch(`${running.http}/readyz`)
      return [response.status, await response.text()]
    }
    expect(await next()).to.equal(2)
    expect(await probe()).to.deep.equal([503, '{"status":"unavailable","failing":["database"]}'])
    ready = true
    expect(await probe()).to.deep.equal([200, '{"status":"ok"}'])
    expect(await next()).to.equal(1)
    expect((await client.check({})).status).to.equal(1)
    const stopped = running.stop()
    expect(await next()).to.equal(2)
    await statuses.return?.()
    await stopped
    close()
  })

  it('runs each check once for all probes that come while it runs, and again for the next', async () => {
    let runs = 0
    let open = () => {}
    let gate = Promise.resolve()
    const checks = ['database', 'schema'].map((name) => ({ name, check: () => (runs++, gate) }))
    const builder = new ServerBuilder({
      grpcAddr: '127.0.0.1:0',
      readinessChecks: checks,
      logger: recordingLogger(),
    })
    const server = withEcho(builder).build()
    const listen = server.httpListener()
    const controller = new AbortController()
    const served = server.serve(controller.signal)
    await server.ready()
    let arrived = 0
    let allArrived = () => {}
    const all = new Promise<void>((resolve) => (allArrived = resolve))
    const http = createHttpServer((request, response) => {
      listen(request, response)
      if (++arrived === 50) allArrived()
    })
    await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve))
    const { port } = http.address() as { port: number }
    const probe = () => fetch(`http://127.0.0.1:${port}/readyz`)

    runs = 0
    gate = new Promise((resolve) => (open = resolve))
    const probes = Array.from({ length: 50 }, probe)
    await all
    open()
    expect((await Promise.all(probes)).map(({ status }) => status)).to.deep.equal(probes.map(() => 200))
    expect(runs).to.equal(2)
    await probe()
    expect(runs).to.equal(4)
    http.close()
    http.closeAllConnections()
    controller.abort()
    await served
  })

  it('gives a check 2 seconds', async () => {
    let aborted = false
    const check = (signal: AbortSignal) =>
      new Promise<void>(() => signal.addEventListener('abort', () => (aborted = true), { once: true }))
    const running = await startServer(withEcho, { readinessChecks: [{ name: 'slow', check }] })
    const client = new ForeignClient(Health, running.grpc)
    expect((await client.unary('Check', {})).answer).to.include({ status: 'NOT_SERVING' })
    expect(aborted).to.equal(true)
    client.close()
    await running.stop()
  })
})
