import { expect } from 'chai'
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2'
import { request as httpRequest } from 'node:http'
import { EchoService } from '../support/gen/specimens_pb.js'
import { ForeignClient } from '../support/grpc/clients.js'
import { echoService } from '../support/grpc/echo.js'
import { RawGrpc } from '../support/grpc/raw-grpc.js'
import { authority } from '../support/servers/certificates.js'
import { ALICE, post, type RunningServer, startServer } from '../support/servers/server.js'
import { until } from '../support/until.js'

const KIB = 1024
const MESSAGE = 600 * KIB
/** Of each message; the end is missing. */
const SENT = 300 * KIB
const LIMIT = 2 * 1024 * KIB
const CAROL = { ...ALICE, 'account-id': 'globex', subject: 'carol' }
const ECHO = '/specimens.v1.EchoService/Echo'

/** The beginning of a message in an envelope. */
const beginning = (): Buffer => {
  const bytes = Buffer.alloc(5 + SENT)
  bytes.writeUInt32BE(MESSAGE, 1)
  return bytes
}

describe('unfinished requests of authenticated calls', () => {
  const ours = authority('Ashlar test authority')
  const { certificate, key } = ours.issue('localhost')
  let running: RunningServer
  let sessions: ClientHttp2Session[]
  const start = async (config = {}) => {
    sessions = []
    running = await startServer(
      (builder) => builder.gateway({ connect: true }).register(EchoService, echoService),
      {
        limits: { maxTenantUnfinishedBytes: LIMIT },
        ...config,
      },
    )
  }
  afterEach(async () => {
    for (const session of sessions) session.destroy()
    await running.stop()
  })

  const grpc = (): RawGrpc => {
    const raw = new RawGrpc(running.grpc)
    sessions.push(raw.session)
    return raw
  }
  /** The codes of calls whose messages end too early, of those that have ended. */
  const unfinished = (raw: RawGrpc, method: string, headers: Record<string, string>): number[] => {
    const codes: number[] = []
    for (let call = 0; call < 20; call++) {
      const { stream, outcome } = raw.open(method, headers)
      stream.write(beginning())
      void outcome.then(({ code = -1 }) => codes.push(code))
    }
    return codes
  }
  const isServed = async (headers: Record<string, string>) => {
    const client = new ForeignClient(EchoService, running.grpc)
    const { code } = await client.unary('Echo', { text: 'x'.repeat(SENT) }, headers)
    client.close()
    const { status } = await fetch(`${running.http}/v1/echo`, post(headers, { text: 'x'.repeat(SENT) }))
    return [code, status]
  }

  for (const method of ['Echo', 'Collect', 'Chat'])
    it(`of ${method} over gRPC hold at most limits.maxTenantUnfinishedBytes of a tenant`, async () => {
      await start()
      const raw = grpc()
      const codes = unfinished(raw, method, ALICE)
      await until(() => codes.length >= 20 - LIMIT / SENT)
      expect(new Set(codes)).to.deep.equal(new Set([8]))
      expect(codes.length).to.be.lessThan(20)
      expect(await isServed(CAROL)).to.deep.equal([0, 200])
      const warnings = running.records.filter(({ level }) => level === 'warn')
      expect(warnings.map(({ fields }) => fields)).to.deep.equal([{ maxTenantUnfinishedBytes: LIMIT }])
      // The bytes of calls that end are given back.
      raw.close()
      await until(async () => (await isServed(ALICE)).join() === '0,200')
    })

  it('count by network without a tenant', async () => {
    await start()
    const { 'account-id': _, ...headers } = ALICE
    const codes = unfinished(grpc(), 'Echo', headers)
    await until(() => codes.length >= 20 - LIMIT / SENT)
    expect(new Set(codes)).to.deep.equal(new Set([8]))
    expect(await isServed(ALICE)).to.deep.equal([0, 200])
  })

  it('do not count once they are complete, nor between the messages of a stream', async () => {
    await start({ limits: { maxTenantUnfinishedBytes: 1200 * KIB } })
    const raw = grpc()
    const whole = Buffer.alloc(5 + MESSAGE)
    // Field 1, a string of this length; its own length takes three bytes.
    whole.writeUInt32BE(MESSAGE, 1)
    whole.write('\x0a', 5, 'latin1')
    whole.set([0x80 | ((MESSAGE - 4) & 0x7f), 0x80 | (((MESSAGE - 4) >> 7) & 0x7f), (MESSAGE - 4) >> 14], 6)
    whole.fill('x', 9)
    const streams = Array.from({ length: 6 }, () => raw.open('Chat', ALICE).stream)
    for (const stream of streams) {
      stream.resume()
      const echoed = new Promise((resolve) => stream.once('data', resolve))
      stream.write(whole)
      await echoed
    }
    expect(await isServed(ALICE)).to.deep.equal([0, 200])
    for (const stream of streams) stream.end()
  })

  const types = {
    '/v1/echo': 'application/json',
    [ECHO]: 'application/proto',
    [`${ECHO} `]: 'application/grpc-web+proto',
  }
  for (const [path, type] of Object.entries(types))
    for (const isHttp2 of [false, true])
      it(`of ${type} over HTTP/${isHttp2 ? 2 : 1.1} hold at most limits.maxTenantUnfinishedBytes`, async () => {
        await start(isHttp2 ? { httpTls: { certificateChain: certificate, privateKey: key } } : {})
        const headers = { 'content-type': type, 'connect-protocol-version': '1', ...ALICE }
        const at = path.trim()
        const ended: number[] = []
        const session = isHttp2
          ? connectHttp2(running.http.replace('http:', 'https:').replace('127.0.0.1', 'localhost'), {
              ca: ours.certificate,
            })
          : undefined
        if (session !== undefined) sessions.push(session)
        const abandon: (() => void)[] = []
        for (let call = 0; call < 20; call++)
          if (session === undefined) {
            const sent = httpRequest(running.http + at, { method: 'POST', headers, agent: false })
            sent
              .on('error', () => {})
              .on('response', (response) => {
                response.resume()
                ended.push(response.statusCode ?? 0)
              })
            sent.write(beginning())
            abandon.push(() => sent.destroy())
          } else {
            const stream = session.request({ ':method': 'POST', ':path': at, ...headers })
            stream.on('error', () => {}).on('response', ({ ':status': status }) => ended.push(Number(status)))
            stream.write(beginning())
          }
        await until(() => ended.length >= 20 - LIMIT / SENT)
        const isStatus = type === 'application/json' || type === 'application/proto'
        expect(new Set(ended)).to.deep.equal(new Set([isStatus ? 429 : 200]))
        expect(ended.length).to.be.lessThan(20)
        const codes = running.records.flatMap(({ message, fields }) =>
          message === 'rpc' ? [fields['code']] : [],
        )
        expect(new Set(codes)).to.deep.equal(new Set(['RESOURCE_EXHAUSTED']))
        for (const leave of abandon) leave()
      })
})
