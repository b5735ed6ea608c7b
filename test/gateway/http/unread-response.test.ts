import { once } from 'node:events'
import { connect as connectHttp2, constants, type ServerHttp2Stream } from 'node:http2'
import { request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { expect } from 'chai'
import { createHttpServer } from '../../../lib/gateway/http/http-server.js'
import { until } from '../../support/until.js'
import { authority } from '../../support/servers/certificates.js'

/** More than the system takes of a connection of this machine. */
const LARGE = Buffer.alloc(32 * 1024 * 1024)

describe('a response that its client does not read', () => {
  const ours = authority('ours')
  const { certificate: cert, key } = ours.issue('localhost')
  let server: Server
  let responses: ServerResponse[]
  let respond: (response: ServerResponse) => void

  const start = async (tls?: { cert: string; key: string }): Promise<number> => {
    responses = []
    const listener = (_request: IncomingMessage, response: ServerResponse): void => {
      responses.push(response)
      respond(response)
    }
    const options = { requestTimeoutMs: 100, keepAliveTimeoutMs: 60_000, ...(tls && { tls, http2: true }) }
    server = createHttpServer(listener, options)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  }
  afterEach(() => {
    server.closeAllConnections()
    server.close()
  })
  const session = (port: number, initialWindowSize: number) =>
    connectHttp2(`https://localhost:${port}`, { ca: ours.certificate, settings: { initialWindowSize } }).on(
      'error',
      () => {},
    )

  it('is ended over HTTP/1.1 with its connection', async () => {
    respond = (response) => response.end(LARGE)
    const socket = connect(await start(), '127.0.0.1').pause()
    socket.on('error', () => {}).write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(server, 'request')
    await once(responses[0] as ServerResponse, 'close')
    let read = 0
    socket.on('data', ({ length }: Buffer) => (read += length)).resume()
    await once(socket, 'close')
    expect(read).to.be.below(LARGE.length)
  })

  it('is waited for over HTTP/1.1 as long as there is nothing to read', async () => {
    let silent = 0
    respond = (response) =>
      void server.on('timeout', () => {
        if (++silent === 2) response.end('late')
      })
    const asked = httpRequest({ host: '127.0.0.1', port: await start() }).end()
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    expect([answer.statusCode, String(await answer.toArray())]).to.deep.equal([200, 'late'])
  })

  it('is not waited for, nor is its client, when a connection of HTTP/2 has ended', async () => {
    const port = await start({ cert, key })
    const socket = connectTls({
      ...{ port, ca: ours.certificate, servername: 'localhost', ALPNProtocols: ['h2'], allowHalfOpen: true },
    }).on('error', () => {})
    await once(socket.resume(), 'secureConnect')
    await once(socket, 'end')
    await until(() => {
      socket.write('x')
      return socket.destroyed
    })
  })

  it('is ended over HTTP/2 with its stream, and others of the connection go on', async () => {
    const streams: ServerHttp2Stream[] = []
    respond = (response) => {
      streams.push((response as unknown as { stream: ServerHttp2Stream }).stream)
      if (streams.length === 1) response.end('x')
      else response.flushHeaders()
    }
    const client = session(await start({ cert, key }), 0)
    const [unread, waiting] = ['/a', '/b'].map((path) =>
      client.request({ ':path': path }).on('error', () => {}),
    )
    const [code] = await Promise.all([
      once(unread as never, 'close').then(() => unread?.rstCode),
      once(waiting as never, 'response'),
    ])
    expect([code, waiting?.closed]).to.deep.equal([constants.NGHTTP2_CANCEL, false])
    await once(streams[1] as ServerHttp2Stream, 'timeout')
    expect(waiting?.closed).to.equal(false)
    client.destroy()
  })
})
