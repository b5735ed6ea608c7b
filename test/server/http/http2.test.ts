import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import { get } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { Config } from '../../../lib/server/config/config.js'
import type { ServerBuilder } from '../../../lib/server/server-builder.js'
import { echoService } from '../../support/grpc/echo.js'
import { EchoService } from '../../support/gen/specimens_pb.js'
import { authority } from '../../support/servers/certificates.js'
import { ALICE, type RunningServer, startServer } from '../../support/servers/server.js'
import { until } from '../../support/until.js'

const MIB = 1024 * 1024

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

describe('HTTP/2', () => {
  const ours = authority('Ashlar test authority')
  const { certificate, key } = ours.issue('localhost')
  const sessions: ClientHttp2Session[] = []
  let running: RunningServer
  let served: { count: typeof echoService.count; echo?: unknown }

  const start = async (config: Config = {}, mounted: (builder: ServerBuilder) => unknown = () => {}) => {
    running = await startServer(
      (builder) => {
        builder.register(EchoService, { ...echoService, ...served } as typeof echoService)
        mounted(builder)
        return builder
      },
      { tls: { certificateChain: certificate, privateKey: key }, ...config },
    )
  }
  beforeEach(() => void (served = { count: echoService.count }))
  afterEach(async () => {
    for (const session of sessions.splice(0)) session.destroy()
    await running.stop()
  })

  const origin = () => running.http.replace('http:', 'https:').replace('127.0.0.1', 'localhost')
  const open = async (): Promise<ClientHttp2Session> => {
    const session = connect(origin(), { ca: ours.certificate })
    sessions.push(session.on('error', () => {}))
    await once(session, 'remoteSettings')
    return session
  }
  /** A connection on which the frames are written by hand. */
  const openRaw = async (): Promise<TLSSocket> => {
    const socket = connectTls({
      port: Number(new URL(running.http).port),
      ca: ours.certificate,
      servername: 'localhost',
      ALPNProtocols: ['h2'],
    })
    await once(socket.on('error', () => {}).resume(), 'secureConnect')
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    socket.write(frameOf(4, 0, Buffer.alloc(0), 0))
    return socket
  }
  const JSON_OF_ALICE = { ...ALICE, 'content-type': 'application/json' }
  const request = (
    session: ClientHttp2Session,
    method: string,
    path: string,
    headers: object = ALICE,
    body?: string | Buffer,
  ): ClientHttp2Stream => {
    const stream = session.request(
      { ':method': method, ':path': path, ...headers },
      { endStream: body === undefined },
    )
    stream.on('error', () => {})
    return body === undefined ? stream : stream.end(body)
  }
  /** What the stream answers; with status 0 where it was reset first. */
  const answerOf = async (stream: ClientHttp2Stream): Promise<Answer> => {
    let headers: Record<string, string> = {}
    let text = ''
    stream.once('response', (given) => (headers = given as Record<string, string>))
    stream.on('data', (data: Buffer) => (text += data.toString()))
    if (!stream.closed) await new Promise<void>((resolve) => stream.once('close', resolve))
    return { status: Number(headers[':status'] ?? 0), headers, text }
  }
  const ask = async (...asked: Parameters<typeof request>): Promise<Answer> => answerOf(request(...asked))
  const overHttp1 = async (path: string): Promise<number | undefined> => {
    const [response] = (await once(
      get(origin() + path, { ca: ours.certificate, agent: false, headers: ALICE }),
      'response',
    )) as [IncomingMessage]
    response.resume()
    return response.statusCode
  }

  it('is offered over TLS beside HTTP/1.1, with many calls on a connection', async () => {
    await start()
    const session = await open()
    expect(session.alpnProtocol).to.equal('h2')
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        ask(session, 'POST', '/v1/echo', JSON_OF_ALICE, JSON.stringify({ text: `${n}` })),
      ),
    )
    expect(answers.map(({ text }) => (JSON.parse(text) as { text: string }).text)).to.deep.equal(
      Array.from({ length: 100 }, (_, n) => `${n}`),
    )
    expect(answers[0]?.headers).to.include({ 'content-type': 'application/json' })
    expect(answers[0]?.headers['x-request-id']).to.match(/^[\w-]{8,}$/)
    expect(answers[0]?.headers).not.to.have.property('connection')
    expect(await overHttp1('/v1/ping')).to.equal(200)
  })

  it('has the errors, codings and streams of HTTP/1.1', async () => {
    await start()
    const session = await open()
    expect((await ask(session, 'GET', '/v1/nothing')).status).to.equal(404)
    expect((await ask(session, 'DELETE', '/v1/ping')).headers['allow']).to.equal('GET, HEAD, OPTIONS')
    expect((await ask(session, 'POST', '/v1/echo', JSON_OF_ALICE, '{')).status).to.equal(400)
    expect((await ask(session, 'HEAD', '/v1/ping')).text).to.equal('')
    const long = await ask(
      session,
      'POST',
      '/v1/echo',
      { ...JSON_OF_ALICE, 'accept-encoding': 'br' },
      JSON.stringify({ text: 'x'.repeat(4000) }),
    )
    expect(long.headers['content-encoding']).to.equal('br')
    const lines = (await ask(session, 'GET', '/v1/count?upto=3')).text.trim().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { result: { text: string } }).result.text)).to.deep.equal(
      ['1', '2', '3'],
    )
    expect((await ask(session, 'GET', '/healthz', {})).status).to.equal(200)
  })

  it('speaks Connect', async () => {
    await start({ gateway: { connect: true } })
    const session = await open()
    const path = `/${EchoService.typeName}/Echo`
    const answer = await ask(session, 'POST', path, JSON_OF_ALICE, '{"text":"over HTTP/2"}')
    expect((JSON.parse(answer.text) as { text: string }).text).to.equal('over HTTP/2')
    const stream = Buffer.concat([Buffer.from([0, 0, 0, 0, 10]), Buffer.from('{"upto":2}')])
    const type = { ...ALICE, 'content-type': 'application/connect+json' }
    const counted = await ask(session, 'POST', `/${EchoService.typeName}/Count`, type, stream)
    expect(counted.text).to.match(/"text":"1"[^]*"text":"2"/)
  })

  it('takes an empty frame of a body for no body, whatever its Content-Encoding', async () => {
    await start()
    const session = await open()
    for (const coding of ['gzip', 'deflate', 'br', 'identity'])
      for (const body of ['', undefined]) {
        const headers = { ...JSON_OF_ALICE, 'content-encoding': coding }
        expect((await ask(session, 'POST', '/v1/echo', headers, body)).status).to.equal(200)
      }
  })

  it('refuses two values of a header that names the caller', async () => {
    await start()
    const session = await open()
    for (const name of ['account-id', 'subject', 'idempotency-key']) {
      const answer = await ask(session, 'GET', '/v1/echo', { ...ALICE, [name]: ['acme', 'other'] })
      expect(answer.status, name).to.equal(400)
    }
  })

  it('refuses a body early, and leaves the connection to the next request', async () => {
    await start()
    const session = await open()
    const body = JSON.stringify({ text: 'x'.repeat(MIB) })
    const typed = { 'content-type': 'application/json' }
    expect((await ask(session, 'POST', '/v1/echo', typed, body)).status).to.equal(403)
    expect((await ask(session, 'POST', '/v1/echo', JSON_OF_ALICE, body)).status).to.equal(413)
    const sized = { ...JSON_OF_ALICE, 'content-length': String(body.length) }
    expect((await ask(session, 'POST', '/v1/echo', sized, body)).status).to.equal(413)
    expect((await ask(session, 'GET', '/v1/ping')).status).to.equal(200)
  })

  it('reads a body after 100 Continue', async () => {
    await start()
    const session = await open()
    const stream = session.request({
      ...JSON_OF_ALICE,
      ':method': 'POST',
      ':path': '/v1/echo',
      expect: '100-continue',
    })
    await once(stream, 'continue')
    stream.end('{"text":"late"}')
    expect((await answerOf(stream)).text).to.contain('"text":"late"')
  })

  it('tells the handler of a stream that its client has left', async () => {
    let hasLeft = false
    served.count = async function* () {
      try {
        for (let n = 1; ; n++) {
          yield { text: String(n) }
          await pause(5)
        }
      } finally {
        hasLeft = true
      }
    }
    await start()
    const stream = request(await open(), 'GET', '/v1/count?upto=1')
    await once(stream, 'data')
    stream.close(constants.NGHTTP2_CANCEL)
    await until(() => hasLeft)
  })

  const cuts: Readonly<Record<string, (socket: TLSSocket) => unknown>> = {
    'with CANCEL': (socket) => socket.write(frameOf(3, 0, Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL]))),
    'with NO_ERROR': (socket) => socket.write(frameOf(3, 0, Buffer.from([0, 0, 0, 0]))),
    'with its connection': (socket) => socket.destroy(),
  }
  for (const [way, cut] of Object.entries(cuts))
    it(`does not take an upload for whole that is cut ${way}`, async () => {
      const seen: string[] = []
      served.echo = ({ text }: { text: string }) => {
        seen.push(text)
        return { text }
      }
      await start({}, (builder) =>
        builder.httpHandler('/upload', async (asked: Request) => {
          seen.push('begun')
          seen.push(await asked.text().catch(() => 'cut'))
          return new Response()
        }),
      )
      for (const [path, begun, over] of [
        ['/v1/echo', () => pause(50), () => pause(50)],
        ['/upload', () => until(() => seen.includes('begun')), () => until(() => seen.includes('cut'))],
      ] as const) {
        const socket = await openRaw()
        socket.write(frameOf(1, END_HEADERS, headersOf({ ...PSEUDO, ':path': path, ...JSON_OF_ALICE })))
        socket.write(frameOf(0, 0, Buffer.from('{"text":"whole"}')))
        await begun()
        cut(socket)
        await over()
        socket.destroy()
      }
      expect(seen).to.deep.equal(['begun', 'cut'])
      expect((await ask(await open(), 'GET', '/v1/ping')).status).to.equal(200)
    })

  it('lives through a request of more than its Content-Length with another one behind it', async () => {
    await start()
    const head = { ...PSEUDO, ':path': '/v1/echo', ...JSON_OF_ALICE }
    for (let n = 0; n < 5; n++) {
      const socket = await openRaw()
      // In one packet: Node goes on to read the second request of a connection that it has just given up.
      socket.write(
        Buffer.concat([
          frameOf(1, END_HEADERS, headersOf({ ...head, 'content-length': '1' })),
          frameOf(0, 0, Buffer.alloc(100)),
          frameOf(1, END_HEADERS, headersOf(head), 3),
          frameOf(0, 0, Buffer.alloc(100), 3),
        ]),
      )
      expect((await ask(await open(), 'GET', '/v1/ping')).status).to.equal(200)
      socket.destroy()
    }
  })

  it('refuses a method that no mounted handler can be given', async () => {
    await start({}, (builder) => builder.httpHandler('/hook', () => new Response('reached')))
    const session = await open()
    for (const method of ['TRACE', 'trace', 'TRACK'])
      expect((await ask(session, method, '/hook')).status).to.equal(405)
    expect((await ask(session, 'INVENTED', '/hook')).text).to.equal('reached')
  })

  it('gives a mounted handler the URL and the headers', async () => {
    await start({}, (builder) =>
      builder.httpHandler('/hook', (asked: Request) =>
        Response.json({
          url: asked.url,
          of: [...asked.headers.keys()].sort(),
          twice: asked.headers.get('x-a'),
        }),
      ),
    )
    const answer = await ask(await open(), 'GET', '/hook?a=b', { 'x-a': ['1', '2'] })
    expect(JSON.parse(answer.text)).to.deep.equal({
      url: `${origin()}/hook?a=b`,
      of: ['x-a', 'x-request-id'],
      twice: '1, 2',
    })
  })

  it('is not offered to a handler in the style of node:http, unless it is asked for', async () => {
    const mounted = (builder: ServerBuilder): unknown =>
      builder.httpHandler(
        '/old',
        (_request: IncomingMessage, response: ServerResponse) => void response.end('old'),
      )
    await start({}, mounted)
    expect(await overHttp1('/old')).to.equal(200)
    const refused = connect(origin(), { ca: ours.certificate })
    expect(await once(refused, 'error').then(([error]: Error[]) => String(error))).to.match(
      /ERR_HTTP2_ERROR|TLS|protocol/i,
    )
    await running.stop()
    await start({ gateway: { http2: true } }, mounted)
    expect((await ask(await open(), 'GET', '/old')).text).to.equal('old')
    await running.stop()
    await start({ gateway: { http2: false } })
    const again = connect(origin(), { ca: ours.certificate })
    await once(again, 'error')
  })

  describe('with limits', () => {
    it('resets a request with too long headers, and says how many calls it takes', async () => {
      await start({ limits: { maxHeaderBytes: 2000, maxConcurrentStreams: 7 } })
      const session = await open()
      expect(session.remoteSettings).to.include({ maxConcurrentStreams: 7, maxHeaderListSize: 2000 })
      const answer = await ask(session, 'GET', '/v1/ping', { 'x-long': 'x'.repeat(3000) })
      expect(answer.status).to.be.oneOf([0, 431])
      expect((await ask(await open(), 'GET', '/v1/ping')).status).to.equal(200)
    })

    it('refuses a body that does not come', async () => {
      await start({ limits: { httpRequestMs: 200 } })
      const stream = (await open()).request({ ...JSON_OF_ALICE, ':method': 'POST', ':path': '/v1/echo' })
      stream.on('error', () => {}).write('{')
      const { status, text } = await answerOf(stream)
      expect([status, (JSON.parse(text) as { message: string }).message]).to.deep.equal([
        408,
        'the request did not arrive in time',
      ])
    })

    it('does not cut a stream of responses that takes longer than a request may', async () => {
      served.count = async function* () {
        await pause(400)
        yield { text: 'late' }
      }
      await start({ limits: { httpRequestMs: 100, httpHeadersMs: 100, httpKeepaliveMs: 100 } })
      expect((await ask(await open(), 'GET', '/v1/count?upto=1')).text).to.contain('late')
    })

    it('closes a connection that brings no request, pings or not', async () => {
      await start({ limits: { httpHeadersMs: 200, httpKeepaliveMs: 200 } })
      const session = await open()
      const pings = setInterval(() => !session.destroyed && session.ping(() => {}), 20)
      await once(session, 'close')
      clearInterval(pings)
      const used = await open()
      expect((await ask(used, 'GET', '/v1/ping')).status).to.equal(200)
      await once(used, 'close')
    })
  })

  it('lets calls end at a shutdown, and tells clients which they are (GOAWAY)', async () => {
    let [isEntered, leave] = [() => {}, () => {}]
    const entered = new Promise<void>((resolve) => (isEntered = resolve))
    const left = new Promise<void>((resolve) => (leave = resolve))
    served.echo = async ({ text }: { text: string }) => {
      isEntered()
      await left
      return { text }
    }
    await start()
    const [busy, idle] = [await open(), await open()]
    const slow = ask(busy, 'POST', '/v1/echo', JSON_OF_ALICE, '{"text":"slow"}')
    await entered
    const away = Promise.all([once(busy, 'goaway'), once(idle, 'goaway')])
    const stopped = running.stop()
    await away
    leave()
    expect((await slow).text).to.contain('"text":"slow"')
    await stopped
    expect([busy.closed, idle.closed]).to.deep.equal([true, true])
  })
})

const END_HEADERS = 4
const PSEUDO = { ':method': 'POST', ':scheme': 'https', ':authority': 'localhost' }

/**
 * A frame of the first stream (RFC 9113 section 4.1). Node's own client ends a stream before it resets it.
 */
const frameOf = (type: number, flags: number, payload: Buffer, stream = 1): Buffer =>
  Buffer.concat([Buffer.from([0, 0, payload.length, type, flags, 0, 0, 0, stream]), payload])

/** Literal headers that are not indexed (RFC 7541 section 6.2.2), of less than 127 bytes each. */
const headersOf = (headers: Readonly<Record<string, string>>): Buffer =>
  Buffer.concat(
    Object.entries(headers).map(([name, value]) =>
      Buffer.from(`\0${String.fromCharCode(name.length)}${name}${String.fromCharCode(value.length)}${value}`),
    ),
  )
