import { expect } from 'chai'
import { etagHeader, matchesWeakly } from '../lib/if-match.js'
import { json, type Running, startGateway } from './gateway/start-gateway.js'

describe('etagHeader', () => {
  for (const [etag, header, rule] of [
    ['abc', '"abc"', 'RFC 9110 8.8.3: an opaque tag is quoted'],
    ['"abc"', '"abc"', 'RFC 9110 8.8.3'],
    ['W/"abc"', 'W/"abc"', 'RFC 9110 8.8.3: weak'],
    ['""', '""', 'RFC 9110 8.8.3: an empty tag is a tag'],
    ['', undefined, 'nothing is no etag'],
    ['a b', undefined, 'RFC 9110 8.8.3: no spaces'],
    ['a"b', undefined, 'RFC 9110 8.8.3: no quotes inside'],
    ['a\r\nx: y', undefined, 'RFC 9110 5.5: no line breaks'],
    ['é', undefined, 'kept to ASCII'],
    [undefined, undefined, 'nothing is no etag'],
  ] as const)
    it(`of ${JSON.stringify(etag)} is ${header ?? 'left out'} (${rule})`, () => {
      expect(etagHeader(etag)).to.equal(header)
    })
})

describe('matchesWeakly', () => {
  for (const [given, etag, isSame, rule] of [
    ['"a"', '"a"', true, 'RFC 9110 13.1.2'],
    ['"b"', '"a"', false, 'RFC 9110 13.1.2'],
    ['"b", "a"', '"a"', true, 'RFC 9110 13.1.2: a list'],
    ['"b","a"', '"a"', true, 'RFC 9110 5.6.1: optional white space'],
    ['W/"a"', '"a"', true, 'RFC 9110 8.8.3.2: weak comparison'],
    ['"a"', 'W/"a"', true, 'RFC 9110 8.8.3.2: weak comparison'],
    ['*', '"a"', true, 'RFC 9110 13.1.2: any'],
    [' * ', '"a"', true, 'RFC 9110 13.1.2: any'],
    ['"x, a"', '"a"', false, 'RFC 9110 8.8.3: a comma inside of a tag'],
    ['a', '"a"', true, 'a bare tag, as clients send it'],
    ['', '"a"', false, 'RFC 9110 13.1.2'],
    ['*', undefined, false, 'nothing to know'],
  ] as const)
    it(`${JSON.stringify(given)} ${isSame ? 'knows' : 'does not know'} ${etag ?? 'nothing'} (${rule})`, () => {
      expect(matchesWeakly(given, etag)).to.equal(isSame)
    })
})

describe('conditional requests through the gateway', () => {
  let running: Running
  before(async () => {
    running = await startGateway()
    running.dispatcher.before = ({ incoming }) => void incoming.trailers.set('etag', 'v1')
  })
  after(() => running.stop())

  it('hands If-Match on as it came', async () => {
    await running.fetch('/v1/widgets/1?update_mask=size', {
      ...json('PATCH', {}),
      headers: { 'content-type': 'application/json', 'if-match': '"a", W/"b"' },
    })
    expect(running.dispatcher.last.incoming.metadata.get('if-match')).to.equal('"a", W/"b"')
  })

  it('returns 304 for GET and HEAD, with the etag and no body, to who knows it', async () => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await running.fetch('/v1/echo', { method, headers: { 'if-none-match': '"v1"' } })
      expect(answer.status).to.equal(304)
      expect(answer.headers.get('etag')).to.equal('"v1"')
      expect(answer.headers.get('content-length')).to.equal(null)
      expect(answer.headers.get('x-request-id')).to.equal('minted')
      expect(await answer.text()).to.equal('')
    }
  })

  it('returns the headers of GET for HEAD', async () => {
    const [head, get] = [await running.fetch('/v1/echo', { method: 'HEAD' }), await running.fetch('/v1/echo')]
    const body = await get.text()
    expect(head.status).to.equal(200)
    expect(head.headers.get('etag')).to.equal('"v1"')
    expect(head.headers.get('content-type')).to.equal('application/json')
    expect(head.headers.get('content-length')).to.equal(String(Buffer.byteLength(body)))
    expect(await head.text()).to.equal('')
  })
})
