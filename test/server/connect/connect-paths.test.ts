import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import {
  clone,
  create,
  createFileRegistry,
  createRegistry,
  type DescFile,
  type DescService,
  setExtension,
} from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import { createClient, ConnectError, type Interceptor } from '@connectrpc/connect'
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-web'
import express from 'express'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { file_google_api_annotations, http } from 'ashlar-annotations/google/api/annotations_pb.js'
import { HttpRuleSchema } from 'ashlar-annotations/google/api/http_pb.js'
import { apiKey } from '../../../lib/server/authn/api-key.js'
import type { Config } from '../../../lib/server/config/config.js'
import { DeclarationError } from '../../../lib/errors.js'
import { verifiedPrincipal } from '../../../lib/server/config/verified-principal.js'
import type { ServerBuilder } from '../../../lib/server/server-builder.js'
import { callService } from '../../support/connect/call-service.js'
import { CallService, file_calls } from '../../support/gen/calls_pb.js'
import { EchoService } from '../../support/gen/specimens_pb.js'
import { echoService } from '../../support/grpc/echo.js'
import { compiled } from '../../support/root.js'
import { rejection } from '../../support/rejection.js'
import { ALICE, post, type RunningServer, startServer } from '../../support/servers/server.js'

const CALL = '/calls.v1.CallService/Call'
const LOOK = '/calls.v1.CallService/Look'
const register = (builder: ServerBuilder): void => void builder.register(CallService, callService)

describe('Connect on the HTTP listener', () => {
  const environment = process.env['NODE_ENV']
  let running: RunningServer | undefined
  afterEach(async () => {
    if (environment === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = environment
    await running?.stop()
    running = undefined
  })

  const start = async (config: Config = {}, more = register): Promise<RunningServer> =>
    (running = await startServer(more, { gateway: { connect: true, ...config.gateway }, ...config }))
  const json = async (response: Response) => [response.status, (await response.json()) as unknown] as const

  describe('is on', () => {
    const statusOf = async (connect: boolean | undefined, nodeEnv: string): Promise<number> => {
      process.env['NODE_ENV'] = nodeEnv
      await start({ gateway: connect === undefined ? {} : { connect } })
      const { status } = await fetch(`${running?.http}${CALL}`, post(ALICE))
      return status
    }
    const said = () =>
      running?.records.flatMap(({ message, fields }) => (message.includes('Connect') ? fields : []))

    it('when it is asked for, and one line says so', async () => {
      expect(await statusOf(true, 'production')).to.equal(200)
      expect(said()).to.deep.equal([{ paths: 6, because: 'the option connect' }])
    })

    it('in development, and one line says so', async () => {
      expect(await statusOf(undefined, 'development')).to.equal(200)
      expect(said()).to.deep.equal([{ paths: 6, because: 'development, and the package is installed' }])
    })

    it('not in production, and not where it is refused', async () => {
      expect(await statusOf(undefined, 'production')).to.equal(404)
      expect(said()).to.deep.equal([])
      await running?.stop()
      expect(await statusOf(false, 'development')).to.equal(404)
      expect(said()).to.deep.equal([])
    })

    for (const [connect, line] of [
      ['undefined', 'not served: the package is not installed'],
      ['true', 'connect needs the package @connectrpc/connect: npm install @connectrpc/connect'],
    ] as const)
      it(`with connect ${connect} and without the package: ${line}`, () => {
        const hidden =
          "export const resolve = (name, context, next) => name.startsWith('@connectrpc/') ? Promise.reject(Object.assign(new Error(name), { code: 'ERR_MODULE_NOT_FOUND' })) : next(name, context)"
        const url = (file: string) => JSON.stringify(`file://${join(compiled, file)}`)
        const program = `
          import { register } from 'node:module'
          register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hidden)}))
          const { startServer } = await import(${url('test/support/servers/server.js')})
          try {
            const running = await startServer(() => {}, { gateway: { connect: ${connect} } })
            for (const { message } of running.records) console.log(message)
            await running.stop()
          } catch (error) { console.log(error.message) }`
        const env = { ...process.env, NODE_ENV: 'development' }
        const text = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
          env,
          encoding: 'utf8',
          timeout: 60_000,
        })
        expect(text).to.include(line)
      })

    it('not without a gateway', async () => {
      const error = await rejection(start({ httpAddr: '' }), DeclarationError)
      expect(error.message).to.include('connect needs an httpAddr')
    })
  })

  describe('paths', () => {
    it('come after probes, and before handlers and rules', async () => {
      await start({}, (builder) =>
        builder.register(CallService, callService).httpHandler('/', () => new Response('mounted')),
      )
      const text = async (path: string) => (await fetch(`${running?.http}${path}`, post(ALICE))).text()
      expect(await text(CALL)).to.include('received')
      expect(await text('/other')).to.equal('mounted')
      expect(await text('/calls.v1.CallService/C%61ll')).to.equal('mounted')
      expect(await text(`${CALL}/`)).to.equal('mounted')
      expect((await fetch(`${running?.http}/healthz`)).status).to.equal(200)
    })

    it('are a start-up error where a handler has one', async () => {
      const error = await rejection(
        start({}, (builder) =>
          builder.register(CallService, callService).httpHandler(CALL, () => new Response('mine')),
        ),
        DeclarationError,
      )
      expect(error.message).to.include(CALL).and.include('connect: false')
    })

    it('are a start-up error where an HTTP rule has one', async () => {
      const error = await rejection(
        start({}, (builder) => builder.register(withRule(), callService as never)),
        DeclarationError,
      )
      expect(error.message).to.include(CALL).and.include('connect: false')
    })

    it('are served in an app that the gateway is mounted in, also where the app has read the body', async () => {
      let outer: ReturnType<typeof createServer> | undefined
      running = await startServer(register, { httpAddr: '', gateway: { connect: true } }, (server) => {
        const app = express().use(express.json()).use(server.httpListener())
        outer = createServer(app).listen(0, '127.0.0.1')
      })
      if (outer === undefined) throw new Error('no server')
      if (!outer.listening) await once(outer, 'listening')
      const origin = `http://127.0.0.1:${(outer.address() as AddressInfo).port}`
      const [status, reply] = await json(await fetch(`${origin}${CALL}`, post(ALICE, { number: 7 })))
      expect([status, (reply as { number: string }).number]).to.deep.equal([200, '7'])
      expect((await fetch(`${origin}/other`, post(ALICE))).status).to.equal(404)
      outer.close()
    })

    it('do not take streams of requests', async () => {
      await start()
      const gather = '/calls.v1.CallService/Gather'
      expect((await fetch(`${running?.http}${gather}`, post(ALICE))).status).to.equal(404)
    })
  })

  describe('requests', () => {
    it('keep every digit of a 64-bit integer, quoted or not', async () => {
      await start()
      for (const number of ['9007199254740993', '"9007199254740993"']) {
        const body = `{"number":${number}}`
        const [, reply] = await json(await fetch(`${running?.http}${CALL}`, { ...post(ALICE), body }))
        expect(reply).to.include({ number: '9007199254740993' })
      }
    })

    it('are read as strictly as the gateway reads, and say which field is wrong', async () => {
      await start()
      const messageFor = async (body: string): Promise<unknown> => {
        const [status, reply] = await json(await fetch(`${running?.http}${CALL}`, { ...post(ALICE), body }))
        expect(status).to.equal(400)
        return (reply as { message: string }).message
      }
      expect(await messageFor('{"nothing":1}')).to.equal('nothing: unknown field')
      expect(await messageFor('{"delayMs":1,"delayMs":2}')).to.include('duplicate')
      expect(await messageFor('{"delayMs":"x"}')).to.include('delay_ms')
      expect(await messageFor('{"delayMs')).to.match(/^invalid JSON at character/)
      expect(await messageFor('')).to.include('send {}')
      expect(await messageFor('\ud800')).to.include('invalid JSON')
    })

    it('hold types of an Any that the services know', async () => {
      await start()
      const [, reply] = await json(await fetch(`${running?.http}${CALL}`, post(ALICE, { delayMs: 1 })))
      expect((reply as { request: object }).request).to.deep.equal({
        '@type': 'type.googleapis.com/calls.v1.CallRequest',
        delayMs: 1,
      })
    })

    it('by GET: with the parameters of the protocol, each once, and any other beside them', async () => {
      await start()
      const get = async (query: string) =>
        json(await fetch(`${running?.http}${LOOK}?${query}`, { headers: ALICE }))
      expect((await get('connect=v1&encoding=json&message={}'))[0]).to.equal(200)
      expect(
        (await fetch(`${running?.http}${LOOK}?encoding=proto&message=`, { headers: ALICE })).status,
      ).to.equal(200)
      for (const other of ['x=1', 'x=1&x=2', 'utm_source=mail', '_=1700000000', '__proto__=1', '='])
        expect((await get(`encoding=json&${other}&message={}`))[0], other).to.equal(200)
      for (const [query, words] of [
        ['encoding=json&message={}&message={}', 'given twice'],
        ['encoding=json', 'message is missing'],
        ['encoding=json&base64=1&message=%00', 'not base64'],
        ['encoding=json&message=%ff', 'UTF-8'],
        ['connect=v2&encoding=json&message={}', 'version'],
      ] as const) {
        const [status, reply] = await get(query)
        expect([query, status, (reply as { message: string }).message.includes(words)]).to.deep.equal([
          query,
          400,
          true,
        ])
      }
      expect((await get('encoding=xml&message={}'))[0]).to.equal(415)
      expect((await get(''))[0]).to.equal(415)
    })

    it('have one version of the protocol', async () => {
      await start()
      const ask = (version: string) =>
        fetch(`${running?.http}${CALL}`, post({ ...ALICE, 'connect-protocol-version': version }))
      expect((await ask('1')).status).to.equal(200)
      expect((await ask('2')).status).to.equal(400)
    })

    it('pass on no header but those that the gateway forwards', async () => {
      await start({ gateway: { connect: true, forwardHeaders: ['x-mine'] } })
      const headers = { ...ALICE, 'x-mine': 'yes', 'x-yours': 'no', cookie: 'a=b', 'user-agent': 'me' }
      const [, reply] = await json(await fetch(`${running?.http}${CALL}`, post(headers)))
      const names = (reply as { received: { name: string }[] }).received.map(({ name }) => name)
      expect(names.sort()).to.deep.equal(['account-id', 'groups', 'subject', 'x-mine', 'x-request-id'])
    })

    it('cannot bring an account-id past an authenticator', async () => {
      const authenticator = apiKey({
        verify: (token) =>
          Promise.resolve(token === 'good' ? { ok: true, record: 1 } : { ok: false, record: undefined }),
        principal: () => ({ subject: 'robot', tenant: 'acme' }),
      })
      await start({
        gateway: { connect: true, forwardHeaders: ['account-id'] },
        authenticator,
        principalFunc: verifiedPrincipal,
      })
      const identity = { ...ALICE, 'account-id': 'other' }
      for (const type of ['application/json', 'application/grpc-web+json']) {
        const body = type.includes('web') ? Buffer.from([0, 0, 0, 0, 2, 0x7b, 0x7d]) : '{}'
        const ask = async (more: object) => {
          const headers = { ...identity, ...more, 'content-type': type } as Record<string, string>
          return (await fetch(`${running?.http}${CALL}`, { method: 'POST', headers, body })).text()
        }
        const good = await ask({ authorization: 'Bearer good' })
        expect(good).to.include('received').and.not.include('account-id').and.not.include('other')
        expect(await ask({})).to.match(/permission_denied|grpc-status: 7/)
        expect(await ask({ authorization: 'Bearer bad' })).to.match(/unauthenticated|grpc-status: 16/)
      }
    })
  })

  describe('what is made before a handler runs', () => {
    it('has a request id, and a record in the log', async () => {
      await start()
      const cases: readonly (readonly [number, string, RequestInit])[] = [
        [400, 'INVALID_ARGUMENT', { ...post(ALICE), body: '{' }],
        [405, 'UNIMPLEMENTED', { method: 'PUT', headers: ALICE, body: '{}' }],
        [415, 'INVALID_ARGUMENT', post({ ...ALICE, 'content-type': 'text/plain' })],
        [429, 'RESOURCE_EXHAUSTED', post(ALICE, { data: ['A'.repeat(2 ** 21)] })],
        [400, 'INVALID_ARGUMENT', post({ ...ALICE, 'connect-timeout-ms': '-1' })],
      ]
      for (const [index, [status, code, init]] of cases.entries()) {
        const id = `case-${index}`
        const headers = { ...(init.headers as object), 'x-request-id': id }
        const response = await fetch(`${running?.http}${CALL}`, { ...init, headers })
        await response.arrayBuffer()
        expect([response.status, response.headers.get('x-request-id')]).to.deep.equal([status, id])
        const records = running?.records.filter(
          ({ message, fields }) => message === 'rpc' && fields['requestId'] === id,
        )
        expect(records?.map(({ fields }) => [fields['method'], fields['code']])).to.deep.equal([[CALL, code]])
      }
    })

    it('passes the rate limiter', async () => {
      let charged = 0
      await start({
        resilience: { rateLimiter: { consume: async () => void (await Promise.resolve(charged++)) } },
      })
      await fetch(`${running?.http}${CALL}`, { ...post(ALICE), body: '{' })
      await fetch(`${running?.http}${CALL}`, post({ ...ALICE, 'content-type': 'text/plain' }))
      expect(charged).to.equal(2)
    })
  })

  describe('responses', () => {
    it('have the etag as a trailer, and no metadata that is not on the list', async () => {
      await start()
      const headers = [
        { name: 'set-cookie', values: ['a=b'] },
        { name: 'location', values: ['/'] },
      ]
      const trailers = [
        { name: 'etag', values: ['"1"'] },
        { name: 'x-secret', values: ['1'] },
      ]
      const response = await fetch(`${running?.http}${CALL}`, post(ALICE, { headers, trailers }))
      expect(response.headers.get('trailer-etag')).to.equal('"1"')
      expect([...response.headers.keys()].sort()).to.deep.equal([
        ...['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'trailer-etag'],
        ...['x-content-type-options', 'x-request-id'],
      ])
    })

    it('say no more than "internal error" of a message that cannot be written, and the log says why', async () => {
      await start({}, (builder) =>
        builder.register(EchoService, {
          ...echoService,
          echo: () => ({ request: { phase: 'RAW' } }) as never,
          async *count() {
            yield await Promise.resolve({ request: { phase: 'RAW' } } as never)
          },
        }),
      )
      for (const type of ['application/json', 'application/proto']) {
        const body = type.endsWith('json') ? '{}' : ''
        const init = { method: 'POST', headers: { ...ALICE, 'content-type': type }, body }
        const [status, reply] = await json(
          await fetch(`${running?.http}/specimens.v1.EchoService/Echo`, init),
        )
        expect([status, reply]).to.deep.equal([500, { code: 'internal', message: 'internal error' }])
      }
      const count = await fetch(`${running?.http}/specimens.v1.EchoService/Count`, {
        method: 'POST',
        headers: { ...ALICE, 'content-type': 'application/connect+proto' },
        body: new Uint8Array(5),
      })
      expect(await count.text())
        .to.include('"message":"internal error"')
        .and.not.include('text')
      const failures = running?.records.filter(({ message }) => message === 'call failed')
      expect(failures).to.have.length(3)
      const codes = running?.records.flatMap(({ message, fields }) =>
        message === 'rpc' ? [fields['code']] : [],
      )
      expect(codes).to.deep.equal(['INTERNAL', 'INTERNAL', 'INTERNAL'])
    })
  })

  describe('CORS', () => {
    const ORIGIN = { origin: 'https://app.example.com' }

    it('lets pages send and read what the protocols have', async () => {
      await start({
        gateway: { connect: true, cors: { origins: [ORIGIN.origin] }, responseHeaders: ['x-mine'] },
      })
      const preflight = await fetch(`${running?.http}${LOOK}`, {
        method: 'OPTIONS',
        headers: { ...ORIGIN, 'access-control-request-method': 'POST' },
      })
      expect(preflight.status).to.equal(204)
      expect(preflight.headers.get('access-control-allow-methods')).to.equal('GET, OPTIONS, POST')
      const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase().split(', ')
      expect(allowed).to.include.members([
        ...['connect-protocol-version', 'connect-timeout-ms', 'x-grpc-web', 'x-user-agent', 'grpc-timeout'],
        ...['authorization', 'content-type', 'last-event-id', 'idempotency-key'],
      ])
      const response = await fetch(`${running?.http}${CALL}`, post({ ...ALICE, ...ORIGIN }))
      expect(response.headers.get('access-control-allow-origin')).to.equal(ORIGIN.origin)
      const exposed = response.headers.get('access-control-expose-headers')?.toLowerCase().split(', ')
      expect(exposed).to.include.members([
        ...['trailer-etag', 'trailer-x-mine', 'x-mine', 'grpc-status', 'grpc-message'],
        ...['grpc-status-details-bin', 'x-request-id'],
      ])
    })

    it('lets pages of other origins read nothing', async () => {
      await start({ gateway: { connect: true, cors: { origins: [ORIGIN.origin] } } })
      const response = await fetch(
        `${running?.http}${CALL}`,
        post({ ...ALICE, origin: 'https://else.example.com' }),
      )
      expect(response.headers.get('access-control-allow-origin')).to.equal(null)
    })
  })

  describe("the package's own clients", () => {
    const withIdentity: Interceptor = (next) => (request) => {
      for (const [name, value] of Object.entries(ALICE)) request.header.set(name, value)
      return next(request)
    }
    for (const [name, transport] of [
      ['Connect', createConnectTransport],
      ['gRPC-Web', createGrpcWebTransport],
    ] as const)
      it(`${name}: calls, GETs where it may, follows and reads errors`, async () => {
        await start()
        const options = {
          baseUrl: running?.http ?? '',
          useHttpGet: true,
          jsonOptions: { registry: createRegistry(file_calls) },
          interceptors: [withIdentity],
        }
        const client = createClient(CallService, transport(options))
        expect((await client.call({ number: 5n })).number).to.equal(5n)
        expect((await client.look({ number: 2n ** 62n })).number).to.equal(2n ** 62n)
        let heard = 0
        for await (const { data } of client.follow({ data: [Buffer.of(1), Buffer.of(2)] }))
          heard += data.length
        expect(heard).to.equal(2)
        const failed = await rejection(client.call({ failure: { code: 9, message: 'no' } }), ConnectError)
        expect(failed.rawMessage).to.equal('no')
      })
  })
})

/** CallService, with an HTTP rule whose path is that of the method. */
function withRule(): DescService {
  const files = new Map<string, DescFile>()
  const add = (file: DescFile): void => {
    files.set(file.proto.name, file)
    file.dependencies.forEach(add)
  }
  add(file_calls)
  add(file_google_api_annotations)
  const proto = clone(FileDescriptorProtoSchema, file_calls.proto)
  proto.dependency.push('google/api/annotations.proto')
  const options = proto.service[0]?.method[0]?.options
  if (options === undefined) throw new Error('the method has no options')
  setExtension(options, http, create(HttpRuleSchema, { pattern: { case: 'post', value: CALL }, body: '*' }))
  return createFileRegistry(proto, (name) => files.get(name)).getService(CallService.typeName) as DescService
}
