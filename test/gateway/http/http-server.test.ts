import { once } from 'node:events'
import { get } from 'node:https'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { createHttpServer } from '../../../lib/gateway/http/http-server.js'
import { authority } from '../../support/servers/certificates.js'
import { rawRequest, statusOf } from '../raw-request.js'

describe('createHttpServer', () => {
  it('speaks TLS with a certificate, and ends what is not TLS', async () => {
    const ours = authority('ours')
    const { certificate: cert, key } = ours.issue('localhost')
    const server = createHttpServer((_request, response) => void response.end('secret'), {
      tls: { cert, key },
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    try {
      const request = get({
        host: '127.0.0.1',
        port,
        servername: 'localhost',
        ca: ours.certificate,
        agent: false,
      })
      const [answer] = (await once(request, 'response')) as [IncomingMessage]
      expect(answer.statusCode).to.equal(200)
      answer.resume()
      expect((await rawRequest(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')).isClosed).to.equal(true)
    } finally {
      server.close()
      server.closeAllConnections()
    }
  })

  it('limits the size of the headers to maxHeaderBytes', async () => {
    const server = createHttpServer((_request, response) => void response.end(), {
      maxHeaderBytes: 1000,
      keepAliveTimeoutMs: 1,
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const ask = (size: number) =>
      rawRequest(port, `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(size)}\r\nConnection: close\r\n\r\n`)
    expect(statusOf((await ask(100)).text)).to.equal(200)
    expect(statusOf((await ask(2000)).text)).to.equal(431)
    server.close()
  })

  it('keeps every header of a request, however many', async () => {
    let seen = ''
    const server = createHttpServer(
      ({ headers }, response) => {
        seen = String(headers['x-last'])
        response.end()
      },
      { maxHeaderBytes: 64_000 },
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await rawRequest(
      port,
      `GET / HTTP/1.1\r\nHost: a\r\n${'a:\r\n'.repeat(5000)}X-Last: yes\r\nConnection: close\r\n\r\n`,
    )
    expect(seen).to.equal('yes')
    server.close()
  })
})
