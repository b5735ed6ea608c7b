import { expect } from 'chai'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { request as secureRequest, type RequestOptions } from 'node:https'
import { once } from 'node:events'
import { connect as connectTcp, type AddressInfo } from 'node:net'
import { connect } from 'node:tls'
import { ownEdge, type OwnEdge } from '../support/own-edge.js'

describe('the proxy of the edge', () => {
  let own: OwnEdge
  let upstream: Server
  const seen: IncomingMessage[] = []
  before(async () => {
    own = await ownEdge()
    upstream = createServer((request, response) => {
      seen.push(request)
      if (request.url === '/stream') {
        response.write('one\n')
        request.once('data', () => response.end('two\n'))
        return
      }
      response.setHeader('x-upstream', 'yes')
      request.pipe(response)
    })
    upstream.on('upgrade', (request: IncomingMessage, socket) => {
      seen.push(request)
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
      socket.pipe(socket)
    })
    await new Promise<void>((resolve) => void upstream.listen(0, '127.0.0.1', resolve))
    const { port } = upstream.address() as AddressInfo
    const all = {
      stripPrefix: false,
      protocol: '',
      backendTls: false,
      project: '',
      tile: undefined,
      owner: '',
      ttl: 0n,
    }
    const add = (host: string, path: string, to: string, more = {}) =>
      own.edge.registry.register({ ...all, host, path, upstream: to, ...more })
    add('app.localhost', '', `http://127.0.0.1:${port}`)
    add('app.localhost', '/api', `http://127.0.0.1:${port}/base`, { stripPrefix: true })
    add('gone.localhost', '', 'http://127.0.0.1:1')
    add('tcp.localhost', '', '127.0.0.1:5432', { protocol: 'tcp' })
    add('loop.localhost', '', `https://127.0.0.1:${own.edge.port}`)
  })
  after(async () => {
    await own.close()
    upstream.closeAllConnections()
    upstream.close()
  })

  const ask = (host: string, path: string, more: RequestOptions = {}, body?: string) =>
    new Promise<{ status: number; headers: IncomingMessage['headers']; body: string }>((resolve, reject) => {
      const sent = secureRequest(
        {
          ...{
            host: '127.0.0.1',
            port: own.edge.port,
            path,
            servername: host,
            ca: own.edge.authority.pem,
            agent: false,
          },
          ...more,
          headers: { host: `${host}:${own.edge.port}`, ...more.headers },
        },
        (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (part: string) => (text += part))
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
          )
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })

  it('serves a host with a certificate of its own, which the authority has signed', async () => {
    const { status, body, headers } = await ask('app.localhost', '/x?y=1', { method: 'POST' }, 'hello')
    expect([status, body, headers['x-upstream']]).to.deep.equal([200, 'hello', 'yes'])
  })

  it('passes on to the upstream how it was called, and drops what the client says of it', async () => {
    seen.length = 0
    await ask('APP.localhost', '/', {
      headers: {
        'x-forwarded-for': '10.0.0.1',
        'x-forwarded-host': 'evil',
        forwarded: 'for=x',
        x_forwarded_for: '10.0.0.1',
        'x-real-ip': '10.0.0.1',
      },
    })
    const { headers } = seen[0] ?? { headers: {} }
    expect(headers).to.include({
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'https',
      'x-forwarded-port': String(own.edge.port),
      host: `APP.localhost:${own.edge.port}`,
    })
    expect(headers).not.to.have.any.keys('forwarded', 'x_forwarded_for', 'x-real-ip')
  })

  it('the longest path wins, and its prefix is taken off where the route says so', async () => {
    seen.length = 0
    await ask('app.localhost', '/api/v1?q=2')
    await ask('app.localhost', '/apiary')
    expect(seen.map(({ url }) => url)).to.deep.equal(['/base/v1?q=2', '/apiary'])
  })

  it('finds the route of a host in each form', async () => {
    for (const host of ['APP.localhost', 'app.localhost.', 'App.Localhost..'])
      expect((await ask('app.localhost', '/', { headers: { host } })).status, host).to.equal(200)
  })

  it('has at most 500 connections', async () => {
    const opened = async () => {
      const socket = connectTcp(own.edge.port, '127.0.0.1')
      await once(socket, 'connect')
      return socket.resume()
    }
    const held = await Promise.all(Array.from({ length: 500 }, opened))
    await once(await opened(), 'close')
    await Promise.all(held.map((socket) => once(socket.destroy(), 'close')))
  })

  const REFUSED: readonly (readonly [string, number, string])[] = [
    ['unknown.localhost', 404, 'no route for unknown.localhost/'],
    ['tcp.localhost', 404, 'no route'],
    ['gone.localhost', 502, 'ECONNREFUSED'],
    ['loop.localhost', 508, 'routed to the edge itself'],
  ]
  for (const [host, status, text] of REFUSED)
    it(`${host} is ${status}`, async () => {
      const got = await ask(host, '/', { servername: 'app.localhost' })
      expect(got.status).to.equal(status)
      expect(got.body).to.include(text)
    })

  it('passes parts of a response on as they come', async () => {
    const parts: string[] = []
    await new Promise<void>((resolve, reject) => {
      const sent = secureRequest(
        {
          ...{ host: '127.0.0.1', port: own.edge.port, path: '/stream', method: 'POST', agent: false },
          ...{ servername: 'app.localhost', ca: own.edge.authority.pem, headers: { host: 'app.localhost' } },
        },
        (response) => {
          response.setEncoding('utf8').on('data', (part: string) => {
            parts.push(part)
            // The upstream waits for this before it goes on.
            if (parts.length === 1) sent.end('go on')
          })
          response.on('end', resolve)
        },
      )
      sent.on('error', reject)
      sent.flushHeaders()
    })
    expect(parts.join('')).to.equal('one\ntwo\n')
  })

  it('passes a WebSocket on', async () => {
    const socket = connect({
      host: '127.0.0.1',
      port: own.edge.port,
      servername: 'app.localhost',
      ca: own.edge.authority.pem,
    })
    let text = ''
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject)
      socket.on('data', (part: Buffer) => {
        text += part.toString()
        if (text.includes('\r\n\r\n') && !text.includes('ping')) socket.write('ping')
        if (text.endsWith('ping')) resolve()
      })
      socket.write(
        'GET /ws HTTP/1.1\r\nhost: app.localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
      )
    })
    socket.destroy()
    expect(text).to.match(/^HTTP\/1.1 101 /)
  })
})
