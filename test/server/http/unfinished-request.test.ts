import { expect } from 'chai'
import { once } from 'node:events'
import { type ClientHttp2Stream, connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { EchoService } from '../../support/gen/specimens_pb.js'
import { echoService } from '../../support/grpc/echo.js'
import { authority } from '../../support/servers/certificates.js'
import { ALICE, type RunningServer, startServer } from '../../support/servers/server.js'

const KIB = 1024
const LIMIT = 256 * KIB
const PART = 30 * KIB

describe('an HTTP request that never ends', () => {
  const ours = authority('Ashlar test authority')
  const { certificate, key } = ours.issue('localhost')
  let running: RunningServer
  const start = async (config = {}) => {
    running = await startServer((builder) => builder.register(EchoService, echoService), {
      limits: { unauthenticatedBytes: LIMIT },
      ...config,
    })
  }
  afterEach(() => running.stop())
  const warnings = () => running.records.filter(({ level }) => level === 'warn')

  for (const path of ['/v1/echo', '/specimens.v1.EchoService/Echo'])
    it(`gives back what it holds when its client leaves: ${path}`, async () => {
      await start()
      const { hostname, port, host } = new URL(running.http)
      for (let n = 0; n < 20; n++) {
        const socket = connect(Number(port), hostname).on('error', () => {})
        socket
          .resume()
          .write(
            `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${PART.toString(16)}\r\n`,
          )
        socket.end(Buffer.alloc(PART - 1, 'x'))
        await once(socket, 'close')
      }
      expect(warnings()).to.deep.equal([])
    })

  it('counts over HTTP/2 with what its stream takes, also where nothing of its body came', async () => {
    await start({ httpTls: { certificateChain: certificate, privateKey: key } })
    const session = connectHttp2(running.http.replace('http:', 'https:').replace('127.0.0.1', 'localhost'), {
      ca: ours.certificate,
    })
    const headers = { ':method': 'POST', ':path': '/v1/echo', 'content-type': 'application/json', ...ALICE }
    const open = (): ClientHttp2Stream => session.request(headers).on('error', () => {})
    const [first] = Array.from({ length: 40 }, open) as [ClientHttp2Stream]
    const [answer] = (await once(first, 'response')) as [{ readonly ':status': number }]
    expect(answer[':status']).to.equal(429)
    session.destroy()
  })
})
