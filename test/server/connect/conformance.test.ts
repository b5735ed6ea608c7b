import { expect } from 'chai'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { CODES } from '../../../lib/errors.js'
import {
  type CallResponse,
  CallRequestSchema,
  CallService,
  type HeaderSchema as Header,
  HeaderSchema,
} from '../../support/gen/calls_pb.js'
import { callService } from '../../support/connect/call-service.js'
import { envelope, type Outcome, type Wire, wireCall } from '../../support/connect/wire-client.js'
import { ALICE, type RunningServer, startServer } from '../../support/servers/server.js'
import type { MessageShape } from '@bufbuild/protobuf'

const LIMIT = 64 * 1024
const DATA = Buffer.from('a response')
const SENT = { 'x-test-request': 'one, two' }
const HEADER = { name: 'x-test-header', values: ['a'] }
const TRAILER = { name: 'x-test-trailer', values: ['b'] }
const HEADERS = { name: 'x-test-header', values: ['a', 'b', 'c'] }
const TRAILERS = { name: 'x-test-trailer', values: ['d', 'e'] }
const DETAIL = { name: 'detail', values: ['what the server saw'] }
const BOTH = { headers: [HEADER], trailers: [TRAILER] }
const failure = (code: number, message: string) => ({ failure: { code, message, details: [DETAIL] } })
const { call, look, follow } = CallService.method

const WIRES: readonly Wire[] = (['connect', 'grpc-web'] as const).flatMap((protocol) =>
  (['proto', 'json'] as const).flatMap((codec) =>
    (['identity', 'gzip', 'br'] as const).map((compression) => ({ protocol, codec, compression })),
  ),
)

/**
 * The cases of the public suite of Connect for servers, as facts, over every protocol, codec and compression.
 */
describe('Connect conformance', () => {
  let running: RunningServer
  before(async () => {
    running = await startServer((builder) => builder.register(CallService, callService), {
      gateway: {
        ...{ connect: true, maxBodyBytes: LIMIT, forwardHeaders: ['x-test-request'] },
        responseHeaders: ['x-test-header', 'x-test-trailer'],
      },
    })
  })
  after(() => running.stop())

  const told = ({ code, message, messages, headers, trailers }: Outcome) => ({
    ...{ code, message, data: (messages as CallResponse[]).map(({ data }) => Buffer.from(data).toString()) },
    header: headers.get('x-test-header'),
    trailer: trailers.get('x-test-trailer') ?? null,
  })
  const detailsIn = ({ details }: Outcome): readonly (MessageShape<typeof Header> | string)[] =>
    details.map(({ type, value }) =>
      type === HeaderSchema.typeName ? fromBinary(HeaderSchema, value) : type,
    )
  const seenBy = ({ messages }: Outcome): unknown =>
    (messages[0] as CallResponse | undefined)?.received.find(({ name }) => name === 'x-test-request')?.values

  for (const wire of WIRES) {
    const { protocol, codec, compression } = wire
    describe(`${protocol}, ${codec}, ${compression}`, () => {
      const headers = { ...ALICE, ...SENT }
      const unary = (init: object, options: object = {}) =>
        wireCall(running.http, wire, call, init, { headers, ...options })
      const stream = (init: object, options: object = {}) =>
        wireCall(running.http, wire, follow, init, { headers, ...options })

      it('unary: succeeds, with metadata of both sides', async () => {
        const outcome = await unary({ ...BOTH, data: [DATA] })
        const ok = { code: 'ok', message: '', data: ['a response'], header: 'a', trailer: 'b' }
        expect(told(outcome)).to.deep.equal(ok)
        expect(seenBy(outcome)).to.deep.equal(['one, two'])
      })

      it('server stream: succeeds, and without a response', async () => {
        const outcome = await stream({ ...BOTH, data: [DATA, DATA] })
        const ok = { code: 'ok', message: '', header: 'a', trailer: 'b' }
        expect(told(outcome)).to.deep.equal({ ...ok, data: ['a response', 'a response'] })
        expect(seenBy(outcome)).to.deep.equal(['one, two'])
        expect(told(await stream(BOTH))).to.deep.equal({ ...ok, data: [] })
      })

      it('has every value of repeated metadata, also beside an error', async () => {
        const init = { headers: [HEADERS], trailers: [TRAILERS], data: [DATA] }
        const all = { header: 'a, b, c', trailer: 'd, e' }
        expect(told(await unary(init))).to.include(all)
        expect(told(await stream(init))).to.include(all)
        expect(told(await unary({ ...init, ...failure(13, 'failed') }))).to.include({
          code: 'internal',
          ...all,
        })
        const failed = { code: 'internal', message: 'failed', ...all }
        expect(told(await stream({ ...init, ...failure(13, 'failed') }))).to.deep.equal({
          ...failed,
          data: ['a response'],
        })
        expect(told(await stream({ ...init, data: [], ...failure(13, 'failed') }))).to.deep.equal({
          ...failed,
          data: [],
        })
      })

      it('sends every code, with its text and its details', async () => {
        for (const [name, code] of Object.entries(CODES).slice(1)) {
          const text = name === 'CANCELLED' ? 'canceled' : name.toLowerCase()
          for (const outcome of [await unary(failure(code, name)), await stream(failure(code, name))]) {
            expect([outcome.code, outcome.message]).to.deep.equal([text, name])
            expect(detailsIn(outcome)).to.have.length(1)
            expect(detailsIn(outcome)[0]).to.include({ name: 'detail' })
          }
        }
      })

      it('sends a text with whitespace and characters of every plane', async () => {
        const text = '\nspace\r\nand \u263a and \u{1f608}\n'
        expect((await unary(failure(13, text))).message).to.equal(text)
        expect((await stream(failure(13, text))).message).to.equal(text)
      })

      it('takes an empty request', async () => {
        expect(await unary({})).to.include({ code: 'ok' })
        expect(await stream({})).to.include({ code: 'ok' })
      })

      it('tells a method how much time it has, and ends it then', async () => {
        for (const outcome of [
          await unary({}, { timeoutMs: 5000 }),
          await stream({ data: [DATA] }, { timeoutMs: 5000 }),
        ])
          expect(Number((outcome.messages[0] as CallResponse).timeLeftMs)).to.be.within(1, 5000)
        const late = { data: [DATA, DATA], delayMs: 1500 }
        expect(await unary(late, { timeoutMs: 200 })).to.include({ code: 'deadline_exceeded' })
        expect(await stream(late, { timeoutMs: 200 })).to.include({ code: 'deadline_exceeded' })
      })

      it('takes a request of exactly the limit, and no larger one', async () => {
        // JSON grows: base64 has four characters for three bytes, and names.
        const frame = Buffer.byteLength('{"data":[""]}')
        const room = codec === 'json' ? Math.floor((LIMIT - frame) / 4) * 3 : LIMIT - 4
        const fits = { data: [Buffer.alloc(room, 7)] }
        expect(await unary(fits)).to.include({ code: 'ok' })
        expect(await stream(fits)).to.include({ code: 'ok' })
        const large = { data: [Buffer.alloc(room + 10, 7)] }
        expect(await unary(large)).to.include({ code: 'resource_exhausted' })
        expect(await stream(large)).to.include({ code: 'resource_exhausted' })
      })

      it('compresses a large response where the client accepts that', async () => {
        const large = { data: [Buffer.alloc(4096, 7)] }
        const isCompressed = compression !== 'identity'
        expect(await unary(large)).to.include({ code: 'ok', wasCompressed: isCompressed })
        expect(await stream(large)).to.include({ code: 'ok', wasCompressed: isCompressed })
      })

      if (protocol === 'connect')
        it('GET: succeeds for a method without side effects', async () => {
          const options = { headers, httpMethod: 'GET' } as const
          const outcome = await wireCall(running.http, wire, look, { ...BOTH, data: [DATA] }, options)
          expect(told(outcome)).to.include({ code: 'ok', header: 'a', trailer: 'b' })
          expect(outcome.headers.get('cache-control')).to.equal('private')
          expect(outcome.headers.get('vary')).to.include('Authorization')
        })
    })
  }

  describe('what no client should send', () => {
    const binary = toBinary(CallRequestSchema, create(CallRequestSchema))
    const at = (method: string) => `${running.http}/calls.v1.CallService/${method}`
    const send = async (method: string, headers: object, body: Uint8Array, verb = 'POST') => {
      const response = await fetch(at(method), {
        method: verb,
        headers: { ...ALICE, ...headers } as Record<string, string>,
        body: new Uint8Array(body),
      })
      return { response, text: Buffer.from(await response.arrayBuffer()).toString() }
    }
    const one = envelope(0, binary)
    const two = Buffer.concat([one, one])
    const STREAMS = ['application/connect+proto', 'application/grpc-web+proto']

    for (const type of STREAMS) {
      const code = (name: string, number: number) =>
        type.includes('connect') ? `"code":"${name}"` : `grpc-status: ${number}`

      it(`${type}: no request, and several`, async () => {
        for (const body of [Buffer.alloc(0), two]) {
          const { text } = await send('Follow', { 'content-type': type }, body)
          expect(text).to.include(code('unimplemented', 12))
        }
      })

      it(`${type}: an unknown compression, and a compressed message without one`, async () => {
        const name = type.includes('connect') ? 'connect-content-encoding' : 'grpc-encoding'
        const unknown = await send('Follow', { 'content-type': type, [name]: 'foo' }, one)
        expect(unknown.text).to.include(code('unimplemented', 12))
        expect(decodeURIComponent(unknown.text)).to.include('gzip, br')
        const plain = await send('Follow', { 'content-type': type, [name]: 'identity' }, envelope(1, binary))
        expect(plain.text).to.include(code('internal', 13))
      })

      it(`${type}: a body that ends inside of a message`, async () => {
        for (const body of [Buffer.of(0), Buffer.of(0, 0, 0, 0, 9, 1)]) {
          const { text } = await send('Follow', { 'content-type': type }, body)
          expect(text).to.include(code('invalid_argument', 3))
        }
      })
    }

    it('gRPC-Web: no request, and several, of a unary method', async () => {
      for (const body of [Buffer.alloc(0), two]) {
        const { text } = await send('Call', { 'content-type': 'application/grpc-web+proto' }, body)
        expect(text).to.include('grpc-status: 12')
      }
    })

    it('gRPC-Web: with the codec in the type, and without it', async () => {
      for (const type of ['application/grpc-web', 'application/grpc-web+proto'])
        expect((await send('Call', { 'content-type': type }, one)).text).to.include('grpc-status: 0')
    })

    it('a type or codec that nobody knows, and base64 of gRPC-Web: 415', async () => {
      for (const type of [
        ...['image/jpeg', 'application/foo', 'application/connect+foo', 'application/grpc-web+foo'],
        ...[
          'application/grpc-web-text',
          'application/grpc-web-text+proto',
          'application/json; charset=latin1',
        ],
      ]) {
        const { response } = await send('Call', { 'content-type': type }, one)
        expect([type, response.status]).to.deep.equal([type, 415])
        expect(response.headers.get('accept-post')).to.include('application/proto')
      }
    })

    it('another HTTP method: 405', async () => {
      const type = { 'content-type': 'application/proto' }
      for (const verb of ['DELETE', 'PUT', 'PATCH'])
        expect((await send('Call', type, binary, verb)).response.status).to.equal(405)
      const got = await fetch(`${at('Call')}?connect=v1&encoding=json&message={}`, { headers: ALICE })
      expect([got.status, got.headers.get('allow')]).to.deep.equal([405, 'OPTIONS, POST'])
    })

    it('another path: 404', async () => {
      const { response } = await send('Other', { 'content-type': 'application/proto' }, binary)
      expect(response.status).to.equal(404)
    })

    it('an unknown compression of a unary request: unimplemented', async () => {
      const headers = { 'content-type': 'application/proto', 'content-encoding': 'foo' }
      const { response, text } = await send('Call', headers, Buffer.from([0]))
      expect(response.status).to.equal(501)
      expect(text).to.include('"code":"unimplemented"').and.include('gzip, br, deflate')
    })
  })
})
