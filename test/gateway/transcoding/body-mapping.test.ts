import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { expect } from 'chai'
import { create, isMessage } from '@bufbuild/protobuf'
import { HttpBodySchema } from 'ashlar-annotations/google/api/httpbody_pb.js'
import { AllTypesSchema, TypesService } from '../../support/gen/jsontypes_pb.js'
import { allMethods, json, type Running, startGateway } from '../start-gateway.js'

const LIMIT = 4096

describe('bodies through the gateway', () => {
  let running: Running
  before(async () => {
    running = await startGateway({
      methods: () => [...allMethods, ...TypesService.methods],
      maxBodyBytes: LIMIT,
    })
    running.dispatcher.answer = ({ incoming, request }) => {
      if (incoming.method === TypesService.method.watch) return create(HttpBodySchema)
      return isMessage(request, AllTypesSchema) || isMessage(request, HttpBodySchema)
        ? request
        : create(incoming.method.output)
    }
  })
  after(() => running.stop())

  const outcome = async (path: string, init: RequestInit): Promise<string> => {
    const answer = await running.fetch(path, init)
    const body = await answer.text()
    if (answer.status === 200) return body
    const { message, details } = JSON.parse(body) as { message: string; details: unknown[] }
    expect(details).to.be.an('array')
    return `${answer.status} ${message}`
  }

  const STAR = 'google.api.http: body "*" is the whole request'
  const FIELD = 'google.api.http: body names a field'
  const NONE = 'google.api.http: without body there is none'
  const RESPONSE = 'google.api.http: response_body names a field'
  for (const [what, path, init, wanted, rule] of [
    ['a whole request', '/v1/types', json('POST', '{"optionalInt32":1}'), /"optionalInt32":1/, STAR],
    [
      'proto spelling',
      '/v1/types',
      json('POST', '{"optional_int32":1}'),
      /"optionalInt32":1/,
      'proto3 JSON: both spellings',
    ],
    ['no body at all', '/v1/types', { method: 'POST' }, /"optionalInt32":0/, STAR],
    ['an empty object', '/v1/types', json('POST', '{}'), /"optionalInt32":0/, STAR],
    ['an empty document', '/v1/types', json('POST', ''), /"optionalInt32":0/, STAR],
    ['white space', '/v1/types', json('POST', ' '), /^400 invalid JSON at character 2/, 'RFC 8259 2'],
    [
      'a byte order mark',
      '/v1/types',
      json('POST', '\ufeff{"optionalInt32":1}'),
      /"optionalInt32":1/,
      'RFC 8259 8.1',
    ],
    ['null', '/v1/types', json('POST', 'null'), /^400 invalid JSON body: expected an object, got null/, STAR],
    [
      'a query beside "*"',
      '/v1/types?optional_int32=1',
      json('POST', '{}'),
      /^400 optional_int32: belongs in the body/,
      STAR,
    ],
    ['one field', '/v1/types/struct', json('POST', '{"a":[1]}'), /^\{"a":\[1\]\}$/, FIELD],
    ['null for a field', '/v1/types/struct', json('POST', 'null'), /^null$/, 'proto3 JSON: null is absent'],
    ['no body for a field', '/v1/types/struct', { method: 'POST' }, /^null$/, FIELD],
    [
      'another type for a field',
      '/v1/types/struct',
      json('POST', '[]'),
      /^400 optional_struct: expected an object, got an array/,
      FIELD,
    ],
    ['a repeated field', '/v1/types/words', json('POST', '["a","b"]'), /^\["a","b"\]$/, RESPONSE],
    [
      'a wrong item',
      '/v1/types/words',
      json('POST', '["a",1]'),
      /^400 repeated_string\[1\]: expected a string, got a number/,
      FIELD,
    ],
    ['a query beside a field', '/v1/types/words?optional_int32=1', json('POST', '["a"]'), /^\["a"\]$/, FIELD],
    [
      'a query for the body field',
      '/v1/types/words?repeated_string=x',
      json('POST', '["a"]'),
      /^400 repeated_string: belongs in the body/,
      FIELD,
    ],
    [
      'path values of every kind',
      '/v1/types/-9007199254740993/BAZ/true/-_8',
      {},
      /"optionalInt64":"-9007199254740993".*"optionalBool":true.*"optionalBytes":"\+\/8=".*"optionalNestedEnum":"BAZ"/,
      'google.api.http: path parameters',
    ],
    ['a wrong path value', '/v1/types/x/BAZ/true/', {}, /^404/, 'google.api.http: "*" matches one segment'],
    [
      'a wrong path number',
      '/v1/types/x/BAZ/true/AQ',
      {},
      /^400 optional_int64: expected a 64-bit integer/,
      'google.api.http: path parameters',
    ],
    [
      'a wrong path enum',
      '/v1/types/1/NOPE/true/AQ',
      {},
      /^400 optional_nested_enum: expected one of FOO/,
      'google.api.http: path parameters',
    ],
    [
      'a path value in the query',
      '/v1/types/1/FOO/true/AQ?optional_int64=2',
      {},
      /^400 optional_int64: is already given by the path/,
      'google.api.http: the path has it',
    ],
    [
      'raw bytes as the request',
      '/v1/raw',
      { method: 'PUT', headers: { 'content-type': 'image/png' }, body: Uint8Array.of(0, 255) as BodyInit },
      /^\0\ufffd$/,
      'google.api.HttpBody',
    ],
    [
      'raw bytes in a field',
      '/v1/types/blob',
      { method: 'POST', headers: { 'content-type': 'text/x' }, body: 'raw' },
      /^raw$/,
      'google.api.HttpBody',
    ],
  ] as const)
    it(`takes ${what} (${rule})`, async () => {
      expect(await outcome(path, init)).to.match(wanted)
    })

  const get = (body: string): Promise<string> =>
    outcome('/v1/widgets/1', { method: 'DELETE', headers: { 'content-type': 'application/json' }, body })
  for (const [body, wanted] of [
    ['', /^\{\}$/],
    ['{}', /^\{\}$/],
    [' { } ', /^\{\}$/],
    ['{"id":"2"}', /^400 DeleteWidget takes no body here/],
    ['x', /^400 DeleteWidget takes no body here/],
    [`{${' '.repeat(200)}"id":"2"}`, /^400 DeleteWidget takes no body here/],
  ] as const)
    it(`returns ${JSON.stringify(body.slice(0, 20))} for a method without body (${NONE})`, async () => {
      expect(await get(body)).to.match(wanted)
    })

  const types = (body: BodyInit, headers: Record<string, string>): Promise<string> =>
    outcome('/v1/types', { method: 'POST', headers, body })
  for (const [contentType, isRead] of [
    ['application/json', true],
    ['Application/JSON', true],
    ['application/json; charset=utf-8', true],
    ['application/json; charset="UTF-8"', true],
    ['application/json;charset=utf8', true],
    ['application/merge-patch+json', true],
    ['application/vnd.acme.v1+json; q=1', true],
    ['application/json; charset=utf-16', false],
    ['application/json; charset=iso-8859-1', false],
    ['application/x-www-form-urlencoded', false],
    ['text/plain', false],
    ['text/json', false],
    ['multipart/form-data; boundary=x', false],
    ['application/jsonx', false],
    ['application/grpc', false],
    ['json', false],
  ] as const)
    it(`${isRead ? 'reads' : 'refuses'} a Content-Type of ${contentType} (RFC 9110 8.3, 15.5.16)`, async () => {
      const wanted = isRead ? /"optionalInt32":1/ : /^415 the Content-Type must be application\/json/
      expect(await types('{"optionalInt32":1}', { 'content-type': contentType })).to.match(wanted)
    })

  const small = '{"optionalInt32":1}'
  const big = JSON.stringify({ optionalString: 'x'.repeat(LIMIT) })
  const TYPE = { 'content-type': 'application/json' }
  for (const [what, body, coding, wanted, rule] of [
    ['gzip', gzipSync(small), 'gzip', /"optionalInt32":1/, 'RFC 9110 8.4.1.3'],
    ['x-gzip', gzipSync(small), 'X-GZip', /"optionalInt32":1/, 'RFC 9110 8.4.1.3'],
    ['deflate', deflateSync(small), 'deflate', /"optionalInt32":1/, 'RFC 9110 8.4.1.2'],
    ['identity', Buffer.from(small), 'identity', /"optionalInt32":1/, 'RFC 9110 12.5.3'],
    [
      'deflate without its frame',
      deflateRawSync(small),
      'deflate',
      /^400 the body does not match its Content-Encoding/,
      'RFC 9110 8.4.1.2',
    ],
    [
      'gzip that is none',
      Buffer.from(small),
      'gzip',
      /^400 the body does not match its Content-Encoding/,
      'RFC 9110 8.4',
    ],
    [
      'gzip that is cut',
      gzipSync(small).subarray(0, 20),
      'gzip',
      /^400 the body does not match its Content-Encoding/,
      'RFC 9110 8.4',
    ],
    ['zstd', Buffer.from(small), 'zstd', /^415 the Content-Encoding must be gzip/, 'RFC 9110 15.5.16'],
    [
      'gzip twice',
      gzipSync(gzipSync(small)),
      'gzip, gzip',
      /^415 the Content-Encoding must be gzip/,
      'RFC 9110 15.5.16',
    ],
    [
      'too much inflated',
      gzipSync(big),
      'gzip',
      /^413 the body is larger than 4096 bytes/,
      'the limit counts after inflation',
    ],
    [
      'a bomb',
      gzipSync(Buffer.alloc(100_000_000)).subarray(0, LIMIT),
      'gzip',
      /^413 the body is larger than 4096 bytes/,
      'the limit counts after inflation',
    ],
    [
      'empty members without end',
      Buffer.concat(Array<Buffer>(1000).fill(gzipSync(''))),
      'gzip',
      /^413 the body is larger than 4096 bytes/,
      'the limit counts before inflation, too',
    ],
    ['too much', Buffer.from(big), 'identity', /^413 the body is larger than 4096 bytes/, 'RFC 9110 15.5.14'],
    [
      'as much as is allowed',
      Buffer.from(small.padEnd(LIMIT)),
      'identity',
      /"optionalInt32":1/,
      'RFC 9110 15.5.14',
    ],
    ['one byte more', Buffer.from(small.padEnd(LIMIT + 1)), 'identity', /^413/, 'RFC 9110 15.5.14'],
  ] as const)
    it(`takes a body of ${what} (${rule})`, async () => {
      expect(await types(body as BodyInit, { ...TYPE, 'content-encoding': coding })).to.match(wanted)
    })

  for (const coding of ['gzip', 'x-gzip', 'deflate', 'br', 'identity', 'zstd'])
    for (const [framing, headers] of [
      ['with a length', { 'content-length': '0' }],
      ['in chunks', { 'transfer-encoding': 'chunked' }],
    ] as const)
      it(`takes no byte of ${coding}, sent ${framing}, for no body (RFC 9110 6.4)`, async () => {
        const asked = request(`${running.url}/v1/types`, {
          method: 'POST',
          headers: { ...TYPE, 'content-encoding': coding, ...headers },
        }).end()
        const [answer] = (await once(asked, 'response')) as [IncomingMessage]
        answer.resume()
        expect(answer.statusCode).to.equal(200)
      })

  it('counts a body of unknown length', async () => {
    const body = new ReadableStream({
      start: (controller) => {
        for (let n = 0; n < 3; n++) controller.enqueue(Buffer.alloc(LIMIT / 2, 0x20))
        controller.close()
      },
    })
    expect(
      await outcome('/v1/types', { method: 'POST', headers: TYPE, body, duplex: 'half' } as RequestInit),
    ).to.match(/^413/)
  })

  for (const [what, bytes] of [
    ['a lone continuation byte', [0x80]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a cut character', [0xe8, 0xb0]],
    ['a byte that is never UTF-8', [0xff]],
  ] as const)
    it(`refuses ${what} in a string (RFC 3629)`, async () => {
      const body = Buffer.concat([Buffer.from('{"optionalString":"'), Buffer.from(bytes), Buffer.from('"}')])
      expect(await types(body as BodyInit, TYPE)).to.equal('400 the body is not UTF-8')
    })

  it('keeps the type of raw bytes, and none that is not a type', async () => {
    const send = (type: string): Promise<Response> =>
      running.fetch('/v1/raw', { method: 'PUT', headers: { 'content-type': type }, body: '<p>' })
    expect((await send('image/png')).headers.get('content-type')).to.equal('image/png')
    expect((await send('nonsense')).headers.get('content-type')).to.equal('application/octet-stream')
    expect((await send('text/html')).headers.get('x-content-type-options')).to.equal('nosniff')
  })

  it('compresses a long response for who accepts it', async () => {
    const ask = (coding: string): Promise<Response> =>
      running.fetch('/v1/types', { headers: { 'accept-encoding': coding } })
    for (const [coding, used] of [
      ['gzip', 'gzip'],
      ['deflate', 'deflate'],
      ['gzip;q=0.1, deflate;q=0.5', 'deflate'],
      ['*', 'gzip'],
      ['*;q=0', null],
      ['gzip;q=0', null],
      ['identity', null],
      ['identity;q=1, gzip;q=0.5', null],
      ['br', 'br'],
      ['gzip, deflate, br, zstd', 'br'],
      ['br;q=0.5, gzip', 'gzip'],
      ['br;q=0, gzip;q=0.1', 'gzip'],
      ['identity;q=1, br;q=0.5', null],
      ['zstd', null],
    ] as const) {
      const answer = await ask(coding)
      expect(answer.headers.get('content-encoding'), coding).to.equal(used)
      expect(answer.headers.get('vary'), coding).to.equal('Authorization, Accept-Encoding')
      expect(await answer.json(), coding).to.have.property('optionalInt32', 0)
    }
  })

  it('leaves a short response as it is', async () => {
    const answer = await running.fetch('/v1/widgets/1', {
      method: 'DELETE',
      headers: { 'accept-encoding': 'gzip' },
    })
    expect(answer.headers.get('content-encoding')).to.equal(null)
  })
})
