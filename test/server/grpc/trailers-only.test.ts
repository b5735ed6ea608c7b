import { create, toBinary } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { connect, constants, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2'
import { AshlarError, Unauthenticated } from '../../../lib/errors.js'
import type { ServerCall } from '../../../lib/call.js'
import { devPrincipal } from '../../../lib/server/authn/dev-principal.js'
import {
  CountRequestSchema,
  EchoRequestSchema,
  EchoResponseSchema,
  EchoService,
} from '../../support/gen/specimens_pb.js'
import { authority } from '../../support/servers/certificates.js'
import { ALICE, partly, type RunningServer, startServer } from '../../support/servers/server.js'

const ours = authority('Ashlar test authority')
const { certificate, key } = ours.issue('localhost')
/** A caller whose credentials are not valid. */
const EXPIRED = { ...ALICE, subject: 'expired' }
const PATHS = { Echo: '/specimens.v1.EchoService/Echo', Count: '/specimens.v1.EchoService/Count' } as const

const COLLECT = '/specimens.v1.EchoService/Collect'

/** A message of gRPC. */
const enveloped = (bytes: Uint8Array, length = bytes.length): Buffer => {
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(length, 1)
  return Buffer.concat([prefix, bytes])
}
const REQUESTS = {
  Echo: enveloped(toBinary(EchoRequestSchema, create(EchoRequestSchema, { text: 'a' }))),
  Count: enveloped(toBinary(CountRequestSchema, create(CountRequestSchema, { upto: 1 }))),
}
const FINE = 'fine'
const MALFORMED = enveloped(Buffer.from([0xff]))
const KIB = 1024
const MAX_BYTES = 256 * KIB
const TOO_LARGE = enveloped(Buffer.alloc(300 * KIB))
const MAX_STREAMS = 10
/** Half of a message that is small enough. */
const HALF = enveloped(Buffer.alloc(100 * KIB), 200 * KIB)

/** What came back: each frame of headers, whether it ended the stream, and how the stream was closed. */
interface Received {
  readonly frames: readonly { readonly headers: IncomingHttpHeaders; readonly ends: boolean }[]
  readonly bytes: number
  readonly closedBy: number
}

describe('errors before the first message', () => {
  let running: RunningServer
  const sessions: Record<string, ClientHttp2Session> = {}
  let calls = 0

  before(async () => {
    const unavailable = (_request: unknown, { headers }: ServerCall) => {
      calls++
      headers.append('x-shop', 'north')
      throw new AshlarError('UNAVAILABLE', 'try again')
    }
    running = await startServer(
      (builder) =>
        builder.register(
          EchoService,
          partly(EchoService, {
            echo: (request: { readonly text: string }, call: ServerCall) =>
              request.text === FINE ? create(EchoResponseSchema, request) : unavailable(request, call),

            collect: unavailable,

            async *count(request: { readonly upto: number }, call: ServerCall) {
              if (request.upto === 2) yield create(EchoResponseSchema, { text: 'one' })
              unavailable(request, call)
            },
          }),
        ),
      {
        tls: { certificateChain: certificate, privateKey: key },
        gateway: { connect: true, grpc: true, maxBodyBytes: MAX_BYTES, responseHeaders: ['x-shop'] },
        limits: { maxMessageBytes: MAX_BYTES, maxConcurrentStreams: MAX_STREAMS },
        principalFunc: (call) => {
          if (call.metadata.get('subject') === EXPIRED.subject) throw new Unauthenticated()
          return devPrincipal(call)
        },
      },
    )
    for (const [name, address] of [
      ['grpcAddr', running.grpc],
      ['httpAddr', new URL(running.http).host],
    ] as const)
      sessions[name] = connect(`https://${address.replace('127.0.0.1', 'localhost')}`, {
        ca: ours.certificate,
      })
  })

  after(async () => {
    for (const session of Object.values(sessions)) session.close()
    await running.stop()
  })

  const call = (
    listener: string,
    path: string,
    body: Buffer,
    headers: object,
    end = true,
  ): Promise<Received> =>
    new Promise((resolve) => {
      const frames: { headers: IncomingHttpHeaders; ends: boolean }[] = []
      let bytes = 0
      const stream = (sessions[listener] as ClientHttp2Session).request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc',
        te: 'trailers',
        ...headers,
      })
      const add = (received: IncomingHttpHeaders, flags: number) =>
        frames.push({
          headers: received,
          ends: (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0,
        })
      stream.on('response', add).on('trailers', add)
      stream.on('data', (chunk: Buffer) => (bytes += chunk.length))
      stream.on('error', () => {})
      stream.on('close', () => resolve({ frames, bytes, closedBy: stream.rstCode }))
      if (end) stream.end(body)
      else stream.write(body)
    })

  const CASES = [
    ['denied', '7', ({ path, body }) => [path, body, {}]],
    ['unauthenticated', '16', ({ path, body }) => [path, body, EXPIRED]],
    ['invalid', '3', ({ path }) => [path, MALFORMED, ALICE]],
    ['too large', '8', ({ path }) => [path, TOO_LARGE, ALICE]],
    ['of a handler', '14', ({ path, body }) => [path, body, ALICE]],
    ['for an unknown method', '12', ({ path, body }) => [`${path}s`, body, ALICE]],
  ] as const satisfies readonly (readonly [
    name: string,
    code: string,
    of: (method: { path: string; body: Buffer }) => readonly [path: string, body: Buffer, headers: object],
  ])[]

  for (const listener of ['grpcAddr', 'httpAddr'])
    for (const method of ['Echo', 'Count'] as const)
      for (const [name, code, of] of CASES)
        it(`are one frame with a request id over ${listener}: ${method}, ${name}`, async () => {
          const [path, body, headers] = of({ path: PATHS[method], body: REQUESTS[method] })
          const { frames, bytes } = await call(listener, path, body, { ...headers, 'x-request-id': 'mine' })
          expect(frames).to.have.length(1)
          expect(frames[0]).to.have.property('ends', true)
          expect(frames[0]?.headers).to.include({ 'grpc-status': code, 'x-request-id': 'mine' })
          expect(bytes).to.equal(0)
        })

  for (const listener of ['grpcAddr', 'httpAddr'])
    for (const method of ['Echo', 'Count'] as const)
      it(`have the headers of the handler in their frame over ${listener}: ${method}`, async () => {
        const { frames } = await call(listener, PATHS[method], REQUESTS[method], ALICE)
        expect(frames.map(({ headers }) => headers['x-shop'])).to.deep.equal(['north'])
      })

  for (const listener of ['grpcAddr', 'httpAddr'])
    it(`come as trailers after a message over ${listener}`, async () => {
      const body = enveloped(toBinary(CountRequestSchema, create(CountRequestSchema, { upto: 2 })))
      const { frames, bytes } = await call(listener, PATHS.Count, body, ALICE)
      expect(frames.map(({ headers, ends }) => [headers['grpc-status'], ends])).to.deep.equal([
        [undefined, false],
        ['14', true],
      ])
      expect(bytes).to.be.greaterThan(0)
    })

  for (const listener of ['grpcAddr', 'httpAddr'])
    for (const method of ['Echo', 'Count'] as const)
      it(`close a stream whose request has not arrived whole over ${listener}: ${method}`, async () => {
        const before = calls
        for (const [path, body, headers, code] of [
          [PATHS[method], HALF, {}, '7'],
          [PATHS[method], HALF, EXPIRED, '16'],
          [PATHS[method], TOO_LARGE, ALICE, '8'],
          [`${PATHS[method]}s`, HALF, ALICE, '12'],
        ] as const) {
          const { frames, closedBy } = await call(listener, path, body, headers, false)
          expect(frames[0]?.headers['grpc-status']).to.equal(code)
          expect(closedBy).to.equal(constants.NGHTTP2_NO_ERROR)
        }
        expect(calls).to.equal(before)
      })

  it('close a stream of requests that goes on when its handler has failed, over grpcAddr', async () => {
    const { frames, closedBy } = await call('grpcAddr', COLLECT, REQUESTS.Echo, ALICE, false)
    expect(frames.map(({ headers }) => headers['grpc-status'])).to.deep.equal(['14'])
    expect(closedBy).to.equal(constants.NGHTTP2_NO_ERROR)
  })

  for (const [method, type] of [
    ['Echo', 'application/proto'],
    ['Count', 'application/connect+proto'],
    ['Echo', 'application/grpc-web+proto'],
    ['Count', 'application/grpc-web+proto'],
  ] as const)
    it(`close a stream whose request has not arrived whole, of ${type}: ${method}`, async () => {
      const before = calls
      for (const [path, body, headers] of [
        [PATHS[method], HALF, {}],
        [PATHS[method], HALF, EXPIRED],
        [PATHS[method], TOO_LARGE, ALICE],
        [`${PATHS[method]}s`, HALF, ALICE],
      ] as const) {
        const { frames, closedBy } = await call(
          'httpAddr',
          path,
          body,
          { 'content-type': type, ...headers },
          false,
        )
        expect(frames).to.not.deep.equal([])
        expect(closedBy).to.equal(constants.NGHTTP2_NO_ERROR)
      }
      expect(calls).to.equal(before)
    })

  for (const listener of ['grpcAddr', 'httpAddr'])
    it(`leave the calls of another caller on the same connection alone, over ${listener}`, async () => {
      const fine = enveloped(toBinary(EchoRequestSchema, create(EchoRequestSchema, { text: FINE })))
      const rejected = async () => {
        for (let n = 0; n < 2 * MAX_STREAMS; n++) {
          const path = n % 2 === 0 ? PATHS.Echo : PATHS.Count
          const { closedBy } = await call(listener, path, HALF, {}, false)
          expect(closedBy).to.equal(constants.NGHTTP2_NO_ERROR)
        }
      }
      const served = async () => {
        for (let n = 0; n < 2 * MAX_STREAMS; n++) {
          const { frames, bytes } = await call(listener, PATHS.Echo, fine, ALICE)
          expect(frames.at(-1)?.headers['grpc-status']).to.equal('0')
          expect(bytes).to.be.greaterThan(0)
        }
      }
      await Promise.all([rejected(), served()])
      // Each stream can be opened again.
      await Promise.all(Array.from({ length: MAX_STREAMS }, () => call(listener, PATHS.Echo, fine, ALICE)))
      expect(sessions[listener]?.closed).to.equal(false)
    })
})
