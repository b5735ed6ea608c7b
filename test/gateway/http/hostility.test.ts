import { expect } from 'chai'
import { vectors } from '../../support/values/vectors.js'
import { TypesService } from '../../support/gen/jsontypes_pb.js'
import { bodyOf, hasAnswer, rawRequest, statusOf } from '../raw-request.js'
import { allMethods, json, type Running, startGateway } from '../start-gateway.js'

const HOST = 'Host: localhost\r\n'
const TYPE = 'Content-Type: application/json\r\n'
const POST = `POST /v1/echo HTTP/1.1\r\n${HOST}${TYPE}`

describe('hostile requests', () => {
  let running: Running
  before(async () => {
    running = await startGateway(
      { methods: () => [...allMethods, ...TypesService.methods] },
      { headersTimeoutMs: 400, requestTimeoutMs: 400 },
    )
  })
  after(() => running.stop())
  afterEach('the server still serves', async () => {
    expect((await running.fetch('/v1/ping')).status).to.equal(200)
  })

  const refused = async (bytes: string | Uint8Array, ...statuses: readonly number[]): Promise<void> => {
    running.dispatcher.heard.length = 0
    const { text } = await rawRequest(running.port, bytes, hasAnswer)
    expect(statusOf(text), text).to.be.oneOf(statuses)
    const body = bodyOf(text) as Record<string, unknown>
    expect(body).to.have.all.keys('code', 'message', 'details')
    expect(JSON.stringify(body)).not.to.match(/node:|\.js:|\bat \w+ \(/)
    expect(running.dispatcher.heard).to.have.lengthOf(0)
  }

  const CHUNKS = '2\r\n{}\r\n0\r\n\r\n'
  for (const [what, bytes, rule] of [
    [
      'Content-Length and Transfer-Encoding',
      `${POST}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKS}`,
      'RFC 9112 6.3',
    ],
    [
      'Transfer-Encoding and Content-Length',
      `${POST}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n${CHUNKS}`,
      'RFC 9112 6.3',
    ],
    ['two lengths', `${POST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x`, 'RFC 9112 6.3'],
    ['two equal lengths', `${POST}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`, 'RFC 9112 6.3'],
    ['a list of lengths', `${POST}Content-Length: 2, 2\r\n\r\n{}`, 'RFC 9112 6.3'],
    ['a signed length', `${POST}Content-Length: +2\r\n\r\n{}`, 'RFC 9110 8.6'],
    ['a negative length', `${POST}Content-Length: -2\r\n\r\n{}`, 'RFC 9110 8.6'],
    ['a hexadecimal length', `${POST}Content-Length: 0x2\r\n\r\n{}`, 'RFC 9110 8.6'],
    ['a length beyond 64 bits', `${POST}Content-Length: 18446744073709551616\r\n\r\n{}`, 'RFC 9112 6.3'],
    ['an unknown transfer coding', `${POST}Transfer-Encoding: xchunked\r\n\r\n${CHUNKS}`, 'RFC 9112 6.1'],
    [
      'chunked that is not last',
      `${POST}Transfer-Encoding: chunked, identity\r\n\r\n${CHUNKS}`,
      'RFC 9112 6.3',
    ],
    [
      'chunked twice',
      `${POST}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKS}`,
      'RFC 9112 7.1',
    ],
    [
      'white space in front of the colon',
      `${POST}Transfer-Encoding : chunked\r\n\r\n${CHUNKS}`,
      'RFC 9112 5.1',
    ],
    ['a folded header', `${POST}Transfer-Encoding:\r\n chunked\r\n\r\n${CHUNKS}`, 'RFC 9112 5.2'],
    ['a vertical tab in a coding', `${POST}Transfer-Encoding: \x0bchunked\r\n\r\n${CHUNKS}`, 'RFC 9112 6.1'],
    ['bare line feeds', `POST /v1/echo HTTP/1.1\nHost: localhost\nContent-Length: 2\n\n{}`, 'RFC 9112 2.2'],
    ['a bare carriage return', `${POST}X: a\rContent-Length: 2\r\n\r\n{}`, 'RFC 9112 2.2'],
    ['NUL in a header', `${POST}X: a\0b\r\nContent-Length: 2\r\n\r\n{}`, 'RFC 9110 5.5'],
    [
      'a chunk size beyond 64 bits',
      `${POST}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n`,
      'RFC 9112 7.1',
    ],
    [
      'a negative chunk size',
      `${POST}Transfer-Encoding: chunked\r\n\r\n-1\r\n{}\r\n0\r\n\r\n`,
      'RFC 9112 7.1',
    ],
    [
      'a chunk size with a prefix',
      `${POST}Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n`,
      'RFC 9112 7.1',
    ],
    [
      'a chunk longer than it says',
      `${POST}Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n`,
      'RFC 9112 7.1',
    ],
    ['no Host', `POST /v1/echo HTTP/1.1\r\n${TYPE}Content-Length: 2\r\n\r\n{}`, 'RFC 9112 3.2'],
    ['two Hosts', `GET /v1/ping HTTP/1.1\r\n${HOST}Host: evil\r\n\r\n`, 'RFC 9112 3.2'],
    ['a space in the target', `GET /v1/ping /x HTTP/1.1\r\n${HOST}\r\n`, 'RFC 9112 3.2'],
    ['no target', `GET  HTTP/1.1\r\n${HOST}\r\n`, 'RFC 9112 3'],
    ['a target that is not a path', `GET v1/ping HTTP/1.1\r\n${HOST}\r\n`, 'RFC 9112 3.2'],
    ['a target of another scheme', `GET file:///etc/passwd HTTP/1.1\r\n${HOST}\r\n`, 'RFC 9112 3.2.2'],
    ['an unknown version', `GET /v1/ping HTTP/9.9\r\n${HOST}\r\n`, 'RFC 9112 2.3'],
    ['an unknown method', `FETCH /v1/ping HTTP/1.1\r\n${HOST}\r\n`, 'RFC 9110 9.1'],
    ['a method in small letters', `get /v1/ping HTTP/1.1\r\n${HOST}\r\n`, 'RFC 9110 9.1'],
    ['TLS to a plain port', Buffer.from('16030100ff010000fb0303', 'hex'), 'not HTTP'],
    ['HTTP/2 without having agreed', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'RFC 9113 3.4'],
  ] as readonly (readonly [string, string | Uint8Array, string])[])
    it(`are refused for ${what} (${rule})`, () => refused(bytes, 400))

  for (const [what, bytes, status, rule] of [
    [
      '100 kB of one header',
      `GET /v1/ping HTTP/1.1\r\n${HOST}X: ${'a'.repeat(100_000)}\r\n\r\n`,
      431,
      'RFC 6585 5',
    ],
    ['10,000 headers', `GET /v1/ping HTTP/1.1\r\n${HOST}${'X: a\r\n'.repeat(10_000)}\r\n`, 431, 'RFC 6585 5'],
    ['a target of 100 kB', `GET /v1/ping?${'a'.repeat(100_000)} HTTP/1.1\r\n${HOST}\r\n`, 431, 'RFC 6585 5'],
    [
      'an endless chunk extension',
      `${POST}Transfer-Encoding: chunked\r\n\r\n2;${'a'.repeat(50_000)}\r\n{}\r\n0\r\n\r\n`,
      413,
      'RFC 9112 7.1.1',
    ],
    [
      'an expectation it cannot meet',
      `${POST}Expect: more\r\nContent-Length: 2\r\n\r\n{}`,
      417,
      'RFC 9110 10.1.1',
    ],
    ['CONNECT', `CONNECT localhost:22 HTTP/1.1\r\n${HOST}\r\n`, 405, 'RFC 9110 9.3.6'],
    ['TRACE', `TRACE /v1/ping HTTP/1.1\r\n${HOST}\r\n`, 405, 'RFC 9110 9.3.8'],
    ['headers that never end', `GET /v1/ping HTTP/1.1\r\n${HOST}`, 408, 'RFC 9110 15.5.9'],
    ['a body that never ends', `${POST}Content-Length: 100\r\n\r\n{`, 408, 'RFC 9110 15.5.9'],
    ['chunks that never end', `${POST}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`, 408, 'RFC 9110 15.5.9'],
    [
      'a body longer than the limit, before it comes',
      `${POST}Content-Length: 99999999999\r\n\r\n`,
      413,
      'RFC 9110 15.5.14',
    ],
  ] as const)
    it(`get ${status} for ${what} (${rule})`, () => refused(bytes, status))

  const deep = (open: string, close: string, levels: number): string =>
    `${open.repeat(levels)}${close.repeat(levels)}`
  for (const [what, body] of [
    ['arrays of depth 10,000', `{"words":${deep('[', ']', 10_000)}}`],
    ['objects of depth 10,000', `${'{"nested":'.repeat(10_000)}{}${'}'.repeat(10_000)}`],
    ['messages of depth 101', `${'{"inner":'.repeat(101)}{}${'}'.repeat(101)}`],
    ['depth that is never closed', '['.repeat(500_000)],
    ['duplicate names', '{"text":"a","text":"b"}'],
    ['duplicate names in two spellings', '{"phase":"RAW","phase":1}'],
    ['__proto__', '{"__proto__":{"admin":true}}'],
    ['constructor', '{"constructor":{"prototype":{"admin":true}}}'],
    ['a number beyond 2^63', '{"number":9223372036854775808}'],
    ['a number with a million digits', `{"number":1${'0'.repeat(400_000)}1}`],
    ['a string of a million digits', `{"number":"1${'0'.repeat(400_000)}1"}`],
    ['a huge exponent', '{"number":1e999999999}'],
    ['a double beyond its range', '{"score":1e999}'],
    ['NaN', '{"score":NaN}'],
    ['half of a surrogate pair', '{"text":"\\ud800"}'],
    ['a NUL byte', '{"text":"\0"}'],
    ['an unterminated string', '{"text":"abc'],
    ['a string that never was opened', '{"text":abc"}'],
    ['only white space', ' '.repeat(900_000)],
    ['only quotes', '"'.repeat(900_001)],
    ['only backslashes', `"${'\\'.repeat(900_001)}`],
    ['an unknown field', '{"nope":1}'],
    ['a wrong type', '{"text":{"a":1}}'],
  ] as const)
    it(`are refused for a body of ${what}`, async () => {
      running.dispatcher.heard.length = 0
      const answer = await running.fetch('/v1/echo', json('POST', body))
      expect(answer.status).to.equal(400)
      expect(await answer.json())
        .to.include({ code: 3 })
        .and.to.have.property('message')
        .of.length.below(300)
      expect(running.dispatcher.heard).to.have.lengthOf(0)
      expect(({} as Record<string, unknown>)['admin']).to.equal(undefined)
    })

  it('pass NUL in a string on to who checks values', async () => {
    expect((await running.fetch('/v1/echo', json('POST', '{"text":"a\\u0000b"}'))).status).to.equal(200)
  })

  it('return 400 for every JSON that the conformance vectors call unreadable', async function () {
    const rows = vectors<{ readonly id: string; readonly kind: string; readonly json?: string }>(
      'proto3-json-conformance',
    )
    if (rows === undefined) this.skip()
    const asked = rows.filter(({ json, kind }) => json !== undefined && /^(parse_failure|valid)$/.test(kind))
    expect(asked).to.have.length.above(200)
    for (const { id, kind, json: body = '' } of asked) {
      const answer = await running.fetch('/v1/types', json('POST', body))
      expect(answer.status, `${id} ${body}`).to.equal(kind === 'valid' ? 200 : 400)
      await answer.text()
    }
  })

  it('get a response to each of 200 that come at once on one connection', async () => {
    const one = `GET /v1/ping HTTP/1.1\r\n${HOST}\r\n`
    const { text } = await rawRequest(
      running.port,
      one.repeat(200),
      (all) => all.split('HTTP/1.1 200').length === 201,
    )
    expect(text.split('HTTP/1.1 200')).to.have.lengthOf(201)
  })

  it('never get a response to a smuggled request', async () => {
    const inner = `GET /v1/echo?text=smuggled HTTP/1.1\r\n${HOST}\r\n`
    running.dispatcher.heard.length = 0
    await rawRequest(
      running.port,
      `${POST}Content-Length: ${inner.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
    )
    expect(running.dispatcher.heard).to.have.lengthOf(0)
  })
})
