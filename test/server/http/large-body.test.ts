import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { devAuthorizer } from '../../../lib/server/authz/dev-authorizer.js'
import { EchoService, SpecimenService } from '../../support/gen/specimens_pb.js'
import { ALICE, partly, type RunningServer, startServer } from '../../support/servers/server.js'
import { echoService } from '../../support/grpc/echo.js'

/** A body of the size, and of the shape when it is read. */
const textOf = (bytes: number): string => JSON.stringify({ text: 'x'.repeat(bytes - '{"text":""}'.length) })
const [SMALL, LARGE] = [64 * 1024, 64 * 1024 + 1]

describe('a body of more than 64 KiB', () => {
  let running: RunningServer
  let weighed = 0
  before(async () => {
    const weighSpecimen = ({ id }: { id: string }) => {
      weighed++
      return { id }
    }
    running = await startServer(
      (builder) =>
        builder
          .register(EchoService, { ...echoService, echo: ({ text }) => ({ text: String(text.length) }) })
          .register(SpecimenService, partly(SpecimenService, { weighSpecimen })),
      {
        authorizer: devAuthorizer([
          { tenant: '*', subjects: ['alice'], verbs: ['*'], resource: 'echo' },
          { tenant: '*', subjects: ['alice'], verbs: ['*'], resource: 'specimen:a' },
        ]),
      },
    )
  })
  after(() => running.stop())
  beforeEach(() => void running.records.splice(0))

  const send = async (
    headers: object,
    body: RequestInit['body'],
    path = '/v1/echo',
  ): Promise<readonly [number, string]> => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body }
    const answer = await fetch(running.http + path, { ...init, duplex: 'half' } as RequestInit)
    return [answer.status, await answer.text()]
  }
  const streamed = (text: string) => new Blob([text]).stream()

  /** Each way to send it, and what a head that says no length would. */
  const ways: readonly (readonly [string, object, (text: string) => RequestInit['body']])[] = [
    ['with a length', {}, (text) => text],
    ['in chunks', {}, streamed],
    ['with gzip', { 'content-encoding': 'gzip' }, (text) => gzipSync(text)],
  ]

  for (const [way, headers, wrap] of ways) {
    for (const bytes of [SMALL, LARGE, 1_000_000])
      it(`is read whole, sent ${way}: ${bytes} bytes`, async () => {
        const [status, text] = await send({ ...ALICE, ...headers }, wrap(textOf(bytes)))
        expect([status, (JSON.parse(text) as { text: string }).text]).to.deep.equal([200, String(bytes - 11)])
      })

    it(`is not parsed for nobody, sent ${way}`, async () => {
      const broken = 'x'.repeat(LARGE)
      expect((await send(headers, wrap(broken)))[0]).to.equal(403)
      expect((await send({ ...ALICE, ...headers }, wrap(broken)))[0]).to.equal(400)
      const codes = running.records.map(({ fields }) => fields['code'])
      expect(codes).to.deep.equal(['PERMISSION_DENIED', 'INVALID_ARGUMENT'])
    })

    it(`is not parsed where the path forbids, sent ${way}`, async () => {
      const broken = 'x'.repeat(LARGE)
      expect((await send({ ...ALICE, ...headers }, wrap(broken), '/v1/specimens/b:weigh'))[0]).to.equal(403)
      expect((await send({ ...ALICE, ...headers }, wrap(broken), '/v1/specimens/a:weigh'))[0]).to.equal(400)
      expect(weighed).to.equal(0)
    })
  }

  /** Sends the head, then chunks until the answer is there; what it was, and how much was sent by then. */
  const pour = (length: string): Promise<readonly [string, number]> =>
    new Promise((resolve, reject) => {
      const { hostname, port, host } = new URL(running.http)
      const socket = connect(Number(port), hostname, () => {
        socket.write(
          `POST /v1/echo HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n${length}\r\n\r\n`,
        )
        let sent = 0
        const timer = setInterval(() => {
          const chunk = 'x'.repeat(16 * 1024)
          socket.write(length.startsWith('Content') ? chunk : `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
          sent += chunk.length
        }, 2)
        socket.once('data', (data) => {
          clearInterval(timer)
          socket.destroy()
          resolve([data.toString().split('\r\n', 1)[0] ?? '', sent])
        })
      })
      socket.once('error', reject)
    })

  for (const length of ['Content-Length: 900000', 'Transfer-Encoding: chunked'])
    it(`of nobody is refused before it has come: ${length}`, async () => {
      const [status, sent] = await pour(length)
      expect(status).to.equal('HTTP/1.1 403 Forbidden')
      expect(sent).to.be.below(300_000)
    })

  it('that is refused leaves its connection to the next request, however much of it comes', async () => {
    const { hostname, port, host } = new URL(running.http)
    const head = `POST /v1/echo HTTP/1.1\r\nHost: ${host}\r\n`
    for (const framing of ['chunked', 'gzip']) {
      let text = ''
      const socket = connect(Number(port), hostname).on('data', (data) => (text += data.toString()))
      const body = framing === 'gzip' ? gzipSync('x'.repeat(1_000_000)) : Buffer.alloc(900_000, 'x')
      const coding = framing === 'gzip' ? 'Content-Encoding: gzip\r\n' : ''
      socket.write(`${head}${coding}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n`)
      socket.write(body)
      const next = '{"text":"abc"}'
      socket.write(
        `\r\n0\r\n\r\n${head}account-id: acme\r\nsubject: alice\r\nContent-Length: ${next.length}\r\n\r\n${next}`,
      )
      while (text.split('HTTP/1.1 ').length < 3) await pause(5)
      socket.destroy()
      expect(text).to.match(/^HTTP\/1\.1 403 [^]*HTTP\/1\.1 200 OK[^]*"text":"3"/)
    }
  })
})
