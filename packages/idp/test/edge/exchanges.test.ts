import { expect } from 'chai'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { connect } from 'node:tls'
import { ownEdge, type OwnEdge } from '../support/own-edge.js'

/** Headers of one connection, and one that `Connection` names. */
const HOP =
  'keep-alive: timeout=9\r\nproxy-connection: x\r\nproxy-authenticate: Basic\r\nproxy-authorization: Basic eA==\r\nte: trailers\r\ntrailer: x-end\r\nx-named: 1\r\nx-kept: 1'
const GONE = /^(keep-alive: timeout=9|proxy-|te:|trailer:|x-named:)/m

describe('exchanges of the edge', () => {
  let own: OwnEdge
  let upstream: Server
  let received = ''
  let sent = ''
  before(async () => {
    own = await ownEdge()
    upstream = createServer((socket) => {
      socket.on('error', () => socket.destroy())
      socket.on('data', (part) => {
        received += part.toString('latin1')
        if (received.includes('\r\n\r\n') && sent !== '') socket.end(sent, 'latin1')
      })
    })
    upstream.listen(0, '127.0.0.1')
    await once(upstream, 'listening')
    const { port } = upstream.address() as AddressInfo
    own.edge.registry.register({
      ...{ host: 'app.localhost', path: '', stripPrefix: false, upstream: `http://127.0.0.1:${port}` },
      ...{ protocol: '', backendTls: false, project: '', tile: undefined, owner: '', ttl: 0n },
    })
  })
  after(async () => {
    upstream.close()
    await own.close()
  })
  beforeEach(() => {
    received = ''
    sent = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
  })

  /** All that the edge sends until it ends the connection. */
  const raw = (text: string) =>
    new Promise<string>((resolve, reject) => {
      let got = ''
      const socket = connect(
        { host: '127.0.0.1', port: own.edge.port, servername: 'app.localhost', ca: own.edge.authority.pem },
        () => socket.write(text, 'latin1'),
      )
      socket.on('data', (part: Buffer) => (got += part.toString('latin1')))
      socket.on('error', reject)
      socket.on('close', () => resolve(got))
    })
  const head = (line: string, ...headers: readonly string[]) =>
    [`${line} HTTP/1.1`, 'Host: app.localhost', ...headers, '', ''].join('\r\n')
  const statusOf = (response: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(response)?.[1] ?? 0)
  const UPGRADE = ['Connection: Upgrade, X-Named', 'Upgrade: websocket']

  it('removes headers of the connection from a request', async () => {
    const response = await raw(head('GET /', 'Connection: close, X-Named, Host, Content-Length', HOP))
    expect(statusOf(response)).to.equal(200)
    expect(received.toLowerCase()).to.include('x-kept: 1').and.include('host: app.localhost')
    expect(received.toLowerCase()).not.to.match(GONE)
  })

  it('removes headers of the connection from a response', async () => {
    sent = `HTTP/1.1 200 OK\r\nconnection: close, X-Named, Content-Length\r\n${HOP}\r\ncontent-length: 2\r\n\r\nok`
    const response = (await raw(head('GET /', 'Connection: close'))).toLowerCase()
    expect(response).to.include('x-kept: 1').and.include('content-length: 2')
    expect(response).not.to.match(GONE)
  })

  it('removes headers of the connection from an upgrade in both directions', async () => {
    sent = `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade, X-Named\r\nupgrade: websocket\r\n${HOP}\r\n\r\nhello`
    const response = (await raw(head('GET /', ...UPGRADE, HOP))).toLowerCase()
    expect(response)
      .to.include('x-kept: 1')
      .and.match(/^connection: upgrade\r$/m)
    expect(response).to.match(/^upgrade: websocket\r$/m)
    expect(response.endsWith('\r\n\r\nhello')).to.equal(true)
    expect(received.toLowerCase())
      .to.include('x-kept: 1')
      .and.match(/^connection: upgrade\r$/m)
    for (const text of [response, received.toLowerCase()]) expect(text).not.to.match(GONE)
  })

  it('removes headers of the connection from a refused upgrade', async () => {
    sent = `HTTP/1.1 403 Forbidden\r\nconnection: close, X-Named\r\n${HOP}\r\ncontent-length: 2\r\n\r\nno`
    const response = (await raw(head('GET /', ...UPGRADE))).toLowerCase()
    expect(statusOf(response.toUpperCase())).to.equal(403)
    expect(response).to.include('x-kept: 1')
    expect(response).not.to.match(GONE)
  })

  it('keeps the chunks of a request, and what ends its body', async () => {
    for (const [headers, body] of [
      [['Transfer-Encoding: chunked', 'Connection: close, Transfer-Encoding'], '5\r\nhello\r\n0\r\n\r\n'],
      [['Content-Length: 5', 'Connection: close, Content-Length'], 'hello'],
    ] as const)
      for (const method of ['GET', 'POST', 'DELETE']) {
        received = ''
        expect(statusOf(await raw(head(`${method} /`, ...headers) + body))).to.equal(200)
        expect(received, method).to.match(/\r\n(transfer-encoding: chunked|content-length: 5)\r\n/i)
      }
  })

  /** The requests of a client. The status is 0 if Node ends the connection without a response. */
  const REQUESTS: readonly (readonly [string, string, number])[] = [
    ['a trailer without chunks', head('GET /', 'Trailer: x', 'Connection: close'), 200],
    [
      'a trailer with a body',
      `${head('POST /', 'Content-Length: 1', 'Trailer: x', 'Connection: close')}a`,
      200,
    ],
    ['an upgrade with a trailer', head('GET /', 'Trailer: x', ...UPGRADE), 200],
    ['an expectation', head('GET /', 'Expect: 100-continue', 'Connection: close'), 100],
    ['an unknown expectation', head('GET /', 'Expect: x', 'Connection: close'), 417],
    ['two hosts', head('GET /', 'Host: other.localhost', 'Connection: close'), 400],
    ['an upgrade to two hosts', head('GET /', 'Host: other.localhost', ...UPGRADE), 400],
    [
      'a coding that is not chunked',
      head('POST /', 'Transfer-Encoding: gzip, chunked', 'Connection: close'),
      501,
    ],
    ['an upgrade to HTTP/2', head('GET /', 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c'), 501],
    ['an upgrade by POST', head('POST /', ...UPGRADE), 501],
    ['an upgrade with a body', `${head('GET /', 'Content-Length: 5', ...UPGRADE)}hello`, 400],
    ['an upgrade with chunks', `${head('GET /', 'Transfer-Encoding: chunked', ...UPGRADE)}0\r\n\r\n`, 400],
    ['an upgrade of a path with bytes', head('GET /\u00ff', ...UPGRADE), 400],
    ['a path with bytes', head('GET /\u00ff', 'Connection: close'), 400],
    ['a header with bytes', head('GET /', 'X-A: \u00ff', 'Connection: close'), 200],
    ['no path', head('OPTIONS *', 'Connection: close'), 400],
    ['a tunnel', head('CONNECT app.localhost:443'), 0],
    ['no HTTP', 'junk\r\n\r\n', 400],
  ]
  for (const [what, text, status] of REQUESTS)
    it(`goes on after a client sends ${what}`, async () => {
      expect(statusOf(await raw(text))).to.equal(status)
      expect(statusOf(await raw(head('GET /', 'Connection: close')))).to.equal(200)
    })

  /** The upstream's responses to an upgrade. */
  const UPGRADES: readonly (readonly [string, string, number])[] = [
    ['no HTTP', 'junk', 502],
    ['nothing', '\r\n', 502],
    ['a status below 100', 'HTTP/1.1 099 x\r\ncontent-length: 2\r\n\r\nok', 502],
    ['control characters in its reason', 'HTTP/1.1 200 O\u0001K\r\ncontent-length: 2\r\n\r\nok', 200],
    ['a body that ends too early', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok', 200],
    ['a broken chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', 200],
    [
      'another protocol',
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n',
      0,
    ],
  ]
  for (const [what, text, status] of UPGRADES)
    it(`goes on after an upstream responds to an upgrade with ${what}`, async () => {
      sent = text
      expect(statusOf(await raw(head('GET /', ...UPGRADE)))).to.equal(status)
      sent = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
      expect(statusOf(await raw(head('GET /', 'Connection: close')))).to.equal(200)
    })

  it('ends the connection to the upstream with the connection of a client that waits for an upgrade', async () => {
    sent = ''
    const accepted = once(upstream, 'connection') as Promise<[Socket]>
    const client = connect({
      ...{ host: '127.0.0.1', port: own.edge.port, servername: 'app.localhost' },
      ca: own.edge.authority.pem,
    })
    client.on('error', () => {})
    await once(client, 'secureConnect')
    client.write(head('GET /', ...UPGRADE))
    const [socket] = await accepted
    await once(socket, 'data')
    client.destroy()
    await once(socket, 'close')
  })

  it('ends a connection that has more than 10 requests at a time, without a warning about listeners', async () => {
    const warnings: Error[] = []
    const note = (warning: Error) => warnings.push(warning)
    process.on('warning', note)
    expect(statusOf(await raw(head('GET /').repeat(9) + head('GET /', 'Connection: close')))).to.equal(200)
    sent = ''
    expect(await raw(head('GET /').repeat(11))).to.equal('')
    // None of its requests holds a connection to the upstream.
    await new Promise((resolve) => upstream.close(resolve))
    process.off('warning', note)
    expect(warnings).to.deep.equal([])
  })
})
