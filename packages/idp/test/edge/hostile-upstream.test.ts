import { expect } from 'chai'
import { once } from 'node:events'
import { request } from 'node:https'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { ownEdge, type OwnEdge } from '../support/own-edge.js'

describe('an upstream of the edge that sends', () => {
  let own: OwnEdge
  let upstream: Server
  let head = ''
  before(async () => {
    own = await ownEdge()
    upstream = createServer((socket) => {
      socket.on('error', () => socket.destroy())
      socket.once('data', () => socket.end(`${head}\r\n\r\nok`, 'latin1'))
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
    await own.close()
    upstream.close()
  })

  const statusOf = () =>
    new Promise<number | undefined>((resolve) => {
      const sent = request(
        {
          ...{ host: '127.0.0.1', port: own.edge.port, path: '/', servername: 'app.localhost', agent: false },
          ...{ ca: own.edge.authority.pem, headers: { host: 'app.localhost' } },
        },
        (response) => response.resume().on('close', () => resolve(response.statusCode)),
      )
      sent.on('error', () => resolve(undefined))
      sent.end()
    })

  // Node takes each of these from an upstream, and throws where it is to be sent on.
  const HEADS: readonly (readonly [string, string, number | undefined])[] = [
    ['control characters in its reason', 'HTTP/1.1 200 O\u0001K\r\ncontent-length: 2', 200],
    ['a status below 100', 'HTTP/1.1 099 x\r\ncontent-length: 2', 502],
    ['a trailer without chunks', 'HTTP/1.1 200 OK\r\ntrailer: x\r\ncontent-length: 2', 200],
    ['a header with control characters', 'HTTP/1.1 200 OK\r\nx: \u0001\r\ncontent-length: 2', 502],
    ['no HTTP', 'junk', 502],
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x', 502],
    ['a coding that is not chunked', 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked', 502],
    ['a broken chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz', undefined],
    ['bytes in a header', 'HTTP/1.1 200 OK\r\nx: \u00ff\r\ncontent-length: 2', 200],
    [
      'an empty name of a header of the connection',
      'HTTP/1.1 200 OK\r\nconnection: ,\r\ncontent-length: 2',
      200,
    ],
  ]
  for (const [what, sent, status] of HEADS)
    it(`${what} is ${status ?? 'the end of the connection'}, and the edge goes on`, async () => {
      head = sent
      expect(await statusOf()).to.equal(status)
      head = 'HTTP/1.1 200 OK\r\ncontent-length: 2'
      expect(await statusOf()).to.equal(200)
    })
})
