import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import express from 'express'
import fastify from 'fastify'
import { once } from 'node:events'
import { Gateway } from '../../lib/gateway/gateway.js'
import { devAuthorizer } from '../../lib/server/authz/dev-authorizer.js'
import { resolved } from '../../lib/server/config/config-field.js'
import { GATEWAY_FIELDS } from '../../lib/server/config/config-defaults.js'
import { devPrincipal } from '../../lib/server/authn/dev-principal.js'
import type { HttpListener } from '../../lib/server/http/mounted-gateway.js'
import { ServerBuilder } from '../../lib/server/server-builder.js'
import { echoService } from '../support/grpc/echo.js'
import { type EchoRequest, EchoService } from '../support/gen/specimens_pb.js'
import { ALICE, ALL, post, recordingLogger } from '../support/servers/server.js'
import { EchoDispatcher } from './echo-dispatcher.js'
import { allMethods, json } from './start-gateway.js'

const newGateway = (): Gateway =>
  new Gateway({
    dispatcher: new EchoDispatcher(),
    methods: () => allMethods,
    readiness: () => Promise.resolve([]),
    ...resolved(GATEWAY_FIELDS, {}),
  })

/** The text that comes back from a POST to /v1/echo, or the status when it fails. */
async function echo(url: string, path = '/v1/echo'): Promise<unknown> {
  const answer = await fetch(url + path, json('POST', { text: 'in', number: '9007199254740993' }))
  if (answer.status !== 200) return answer.status
  const { request } = (await answer.json()) as { request: Record<string, unknown> }
  return [request.text, request.number]
}

describe('a gateway inside of another server', () => {
  const servers: Server[] = []
  const listen = async (server: Server): Promise<string> => {
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  afterEach(async () => {
    for (const server of servers.splice(0))
      await new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      })
  })

  it('serves under node:http', async () => {
    const url = await listen(createServer(newGateway().listener))
    expect(await echo(url)).to.deep.equal(['in', '9007199254740993'])
    expect((await fetch(`${url}/nope`)).status).to.equal(404)
  })

  it('serves under Express, and hands on what it does not know', async () => {
    const app = express()
    app.get('/before', (_request, response) => void response.send('express'))
    app.use(newGateway().listener)
    app.get('/after', (_request, response) => void response.send('express'))
    const url = await listen(createServer(app))
    expect(await echo(url)).to.deep.equal(['in', '9007199254740993'])
    expect(await (await fetch(`${url}/before`)).text()).to.equal('express')
    expect(await (await fetch(`${url}/after`)).text()).to.equal('express')
    expect((await fetch(`${url}/v1/ping`, { method: 'DELETE' })).status).to.equal(405)
    expect((await fetch(`${url}/healthz`)).status).to.equal(200)
  })

  it('serves under a prefix of Express', async () => {
    const url = await listen(createServer(express().use('/api', newGateway().listener)))
    expect(await echo(url, '/api/v1/echo')).to.deep.equal(['in', '9007199254740993'])
    expect(await echo(url)).to.equal(404)
  })

  for (const [what, parser] of [
    ['parsed', express.json()],
    ['read as bytes', express.raw({ type: '*/*' })],
    ['read as text', express.text({ type: '*/*' })],
  ] as const)
    it(`takes a body that Express has ${what} already`, async () => {
      const url = await listen(createServer(express().use(parser, newGateway().listener)))
      expect(await echo(url)).to.deep.equal(['in', '9007199254740993'])
      expect((await fetch(`${url}/v1/echo`, { method: 'POST' })).status).to.equal(200)
    })

  it('counts the limit on a body that Express has read already', async () => {
    const url = await listen(
      createServer(express().use(express.raw({ type: '*/*', limit: '5mb' }), newGateway().listener)),
    )
    expect((await fetch(`${url}/v1/echo`, json('POST', { text: 'x'.repeat(2_000_000) }))).status).to.equal(
      413,
    )
  })

  it('serves under Fastify, which leaves the request alone', async () => {
    const gateway = newGateway()
    const app = fastify()
    app.get('/before', () => 'fastify')
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))
    app.all('/*', (request, reply) => {
      reply.hijack()
      gateway.listener(request.raw, reply.raw)
    })
    await app.ready()
    servers.push(app.server)
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    expect(await echo(url)).to.deep.equal(['in', '9007199254740993'])
    expect(await (await fetch(`${url}/before`)).text()).to.equal('fastify')
    expect((await fetch(`${url}/nope`)).status).to.equal(404)
  })
})

describe('a server whose gateway is handed out', () => {
  let enter = () => {}
  let release = () => {}
  const build = () =>
    new ServerBuilder({
      grpcAddr: '127.0.0.1:0',
      principalFunc: devPrincipal,
      authorizer: devAuthorizer([ALL]),
      allowDevelopment: true,
      logger: recordingLogger(),
    })
      .register(EchoService, {
        ...echoService,
        echo: async ({ text }: EchoRequest) => {
          if (text !== 'slow') return { text }
          enter()
          await new Promise<void>((resolve) => (release = resolve))
          return { text: 'at last' }
        },
      })
      .build()

  const frames: readonly (readonly [string, (listener: HttpListener) => Promise<Server>])[] = [
    ['node:http', (listener) => Promise.resolve(createServer(listener))],
    ['Express', (listener) => Promise.resolve(createServer(express().use(express.json(), listener)))],
    [
      'Fastify',
      async (listener) => {
        const app = fastify()
        app.removeAllContentTypeParsers()
        app.addContentTypeParser('*', (_request, _payload, done) => done(null))
        app.all('/*', (request, reply) => {
          reply.hijack()
          listener(request.raw, reply.raw)
        })
        await app.ready()
        return app.server
      },
    ],
  ]

  for (const [name, frame] of frames)
    it(`serves under ${name} through the whole chain, and 503 before it serves and when it ends`, async () => {
      const ours = build()
      const outer = await frame(ours.httpListener())
      await new Promise<void>((resolve) => outer.listen(0, '127.0.0.1', resolve))
      const url = `http://127.0.0.1:${(outer.address() as AddressInfo).port}`
      const ask = (text: string, headers: object = ALICE) => fetch(`${url}/v1/echo`, post(headers, { text }))
      try {
        const early = await ask('early')
        expect([early.status, await early.json()]).to.deep.equal([
          503,
          { code: 14, message: 'the server is not serving: try again later', details: [] },
        ])
        const stop = new AbortController()
        const served = ours.serve(stop.signal)
        await ours.ready()
        expect(ours.httpAddr()).to.equal('')
        expect(await (await ask('hi')).json()).to.include({ text: 'hi' })
        expect((await ask('hi', {})).status).to.equal(403)
        expect((await fetch(`${url}/readyz`)).status).to.equal(200)

        const entered = new Promise<void>((resolve) => (enter = resolve))
        const slow = ask('slow')
        await entered
        stop.abort()
        while ((await ask('late')).status !== 503) await new Promise(setImmediate)
        release()
        expect(await (await slow).json()).to.include({ text: 'at last' })
        await served
      } finally {
        const closed = once(outer, 'close')
        outer.close()
        outer.closeAllConnections()
        await closed
      }
    })

  it('has a mux, for handlers beside the services, once it was asked for', () => {
    const ours = build()
    expect(ours.gatewayMux()).to.equal(undefined)
    ours.httpListener()
    expect(ours.gatewayMux()).to.not.equal(undefined)
  })
})
