import { create, toBinary } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { connect, constants, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2'
import { AshlarError } from '../../../lib/errors.js'
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
const PATHS = { Echo: '/specimens.v1.EchoService/Echo', Count: '/specimens.v1.EchoService/Count' } as const

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
const MALFORMED = enveloped(Buffer.from([0xff]))
const KIB = 1024
const MAX_BYTES = 256 * KIB
const TOO_LARGE = enveloped(Buffer.alloc(300 * KIB))
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
    const unavailable = () => {
      calls++
      throw new AshlarError('UNAVAILABLE', 'try again')
    }
    running = await startServer(
      (builder) =>
        builder.register(
          EchoService,
          partly(EchoService, {
            echo: unavailable,

            async *count({ upto }: { readonly upto: number }) {
              if (upto === 2) yield create(EchoResponseSchema, { text: 'one' })
              unavailable()
            },
          }),
        ),
      {
        tls: { certificateChain: certificate, privateKey: key },
        gateway: { connect: true, grpc: true, maxBodyBytes: MAX_BYTES },
        limits: { maxMessageBytes: MAX_BYTES },
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
        for (const [body, headers, code] of [
          [HALF, {}, '7'],
          [TOO_LARGE, ALICE, '8'],
        ] as const) {
          const { frames, closedBy } = await call(listener, PATHS[method], body, headers, false)
          expect(frames[0]?.headers['grpc-status']).to.equal(code)
          expect(closedBy).to.equal(constants.NGHTTP2_NO_ERROR)
        }
        expect(calls).to.equal(before)
      })
})
