import { createServer, type Server as HttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { expect } from 'chai'
import express, { type RequestHandler } from 'express'
import { Unauthenticated } from '../../lib/errors.js'
import { devAuthorizer } from '../../lib/server/authz/dev-authorizer.js'
import { devPrincipal } from '../../lib/server/authn/dev-principal.js'
import type { Config } from '../../lib/server/config/config.js'
import type { HttpListener } from '../../lib/server/http/mounted-gateway.js'
import { ServerBuilder } from '../../lib/server/server-builder.js'
import { echoService } from '../support/grpc/echo.js'
import { EchoService } from '../support/gen/specimens_pb.js'
import { ALICE, ALL, post, recordingLogger } from '../support/servers/server.js'

const running: (() => Promise<void>)[] = []

/** A server without an `httpAddr` of its own, whose gateway another one hands out. */
async function mounted(frame: (listener: HttpListener) => HttpServer, config: Config) {
  const logger = recordingLogger()
  const server = new ServerBuilder({
    grpcAddr: '127.0.0.1:0',
    authorizer: devAuthorizer([ALL]),
    logger,
    allowDevelopment: true,
    ...config,
  })
    .register(EchoService, {
      ...echoService,
      echo: (_request, { metadata, principal }) => ({
        text: JSON.stringify([principal.tenant, [...metadata.entries()].map(([name]) => name).sort()]),
      }),
    })
    .build()
  const outer = frame(server.httpListener())
  server.registerGateway((mux) => {
    mux.handle('/own', (request: Request) =>
      Promise.resolve(new Response(request.headers.get('x-request-id'))),
    )
  })
  const controller = new AbortController()
  const served = server.serve(controller.signal)
  await Promise.race([server.ready(), served])
  outer.listen(0, '127.0.0.1')
  await once(outer, 'listening')
  running.push(async () => {
    controller.abort()
    await served
    outer.close()
    outer.closeAllConnections()
  })
  return {
    url: `http://127.0.0.1:${(outer.address() as AddressInfo).port}`,
    records: logger.records,
    endServer: () => {
      controller.abort()
      return served
    },
  }
}

const plain = (listener: HttpListener): HttpServer =>
  createServer((request, response) => listener(request, response))

describe('a gateway inside of a server of your own', () => {
  afterEach(async () => {
    for (const stop of running.splice(0)) await stop()
  })

  it('puts a request id on every response, and the same one on the call and in its log', async () => {
    const { url, records, endServer } = await mounted(plain, { principalFunc: devPrincipal })
    const ask = async (path: string, init: RequestInit = {}): Promise<readonly [number, string]> => {
      const response = await fetch(url + path, init)
      await response.arrayBuffer()
      return [response.status, response.headers.get('x-request-id') ?? '']
    }
    const rows: readonly (readonly [string, number, RequestInit?])[] = [
      ['/healthz', 200],
      ['/readyz', 200],
      ['/v1/ping', 200],
      ['/v1/echo', 403, post({})],
      ['/v1/echo', 400, { ...post(ALICE), body: '{' }],
      ['/own', 200],
      ['/nowhere', 404],
    ]
    for (const [path, status, init = {}] of rows)
      for (const given of [undefined, 'mine-1', 'not fit']) {
        const headers = { ...(init.headers as object), ...(given && { 'x-request-id': given }) }
        const [got, id] = await ask(path, { ...init, headers })
        expect([path, got]).to.deep.equal([path, status])
        expect(id).to.match(given === 'mine-1' ? /^mine-1$/ : /^[0-9a-f-]{36}$/)
      }
    records.length = 0
    const [, id] = await ask('/v1/ping')
    expect(records.map(({ fields }) => fields['requestId'])).to.deep.equal([id])
    await endServer()
    expect(await ask('/v1/ping', { headers: { 'x-request-id': 'mine-2' } })).to.deep.equal([503, 'mine-2'])
  })

  it('takes over the request id that a middleware before it has given the response', async () => {
    const numbered: RequestHandler = (_request, response, next) => {
      response.setHeader('x-request-id', 'outer-7')
      next()
    }
    const frame = (listener: HttpListener) =>
      createServer(
        express()
          .use(numbered, listener)
          .get('/after', (_request, response) => void response.send('express')),
      )
    const { url, records } = await mounted(frame, { principalFunc: devPrincipal })
    for (const path of ['/v1/ping', '/after', '/own'])
      expect((await fetch(url + path)).headers.get('x-request-id')).to.equal('outer-7')
    expect(await (await fetch(`${url}/own`)).text()).to.equal('outer-7')
    expect(records.map(({ fields }) => fields['requestId'])).to.deep.equal(['outer-7'])
  })

  it('drops identity headers where an authenticator verifies, and believes them where none does', async () => {
    const who = { subject: 'robot', tenant: 'acme', groups: [], scopes: [] }
    const authenticator = {
      authenticate: (token: string) =>
        token === 'good' ? Promise.resolve(who) : Promise.reject(new Unauthenticated()),
    }
    const claims = { 'account-id': 'other', subject: 'root', groups: 'admins' }
    const text = async (url: string, headers: object): Promise<unknown> => {
      const response = await fetch(`${url}/v1/echo`, post(headers))
      return response.status === 200
        ? JSON.parse(((await response.json()) as { text: string }).text)
        : response.status
    }
    const strict = await mounted(plain, { authenticator })
    expect(await text(strict.url, { ...claims, authorization: 'Bearer good' })).to.deep.equal([
      'acme',
      ['authorization', 'x-request-id'],
    ])
    expect(await text(strict.url, { ...claims, authorization: 'Bearer bad' })).to.equal(401)
    expect(await text(strict.url, claims)).to.equal(403)
    const open = await mounted(plain, { principalFunc: devPrincipal })
    expect(await text(open.url, claims)).to.deep.equal([
      'other',
      ['account-id', 'groups', 'subject', 'x-request-id'],
    ])
  })
})
