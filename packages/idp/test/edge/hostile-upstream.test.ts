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
    new Promise<number | undefined>((resolve, reject) => {
      const sent = request(
        {
          ...{ host: '127.0.0.1', port: own.edge.port, path: '/', servername: 'app.localhost', agent: false },
          ...{ ca: own.edge.authority.pem, headers: { host: 'app.localhost' } },
        },
        (response) => response.resume().on('end', () => resolve(response.statusCode)),
      )
      sent.on('error', reject)
      sent.end()
    })

  // Node takes each of these from an upstream, and throws where it is to be sent on.
  const HEADS: readonly (readonly [string, string, number])[] = [
    ['control characters in its reason', 'HTTP/1.1 200 O\u0001K\r\ncontent-length: 2', 200],
    ['a status below 100', 'HTTP/1.1 099 x\r\ncontent-length: 2', 502],
    ['a trailer without chunks', 'HTTP/1.1 200 OK\r\ntrailer: x\r\ncontent-length: 2', 200],
    ['a header with control characters', 'HTTP/1.1 200 OK\r\nx: \u0001\r\ncontent-length: 2', 502],
    ['no HTTP', 'junk', 502],
  ]
  for (const [what, sent, status] of HEADS)
    it(`${what} is ${status}, and the edge goes on`, async () => {
      head = sent
      expect(await statusOf()).to.equal(status)
      head = 'HTTP/1.1 200 OK\r\ncontent-length: 2'
      expect(await statusOf()).to.equal(200)
    })
})
