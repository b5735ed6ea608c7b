import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { createHttpServer } from '../../../lib/gateway/http/http-server.js'
import { vectors } from '../../support/values/vectors.js'
import { bodyOf, hasAnswer, type RawAnswer, rawRequest, statusOf } from '../raw-request.js'

interface Row {
  readonly id: string
  readonly title: string
  readonly http: string
  readonly expect: string
  readonly bodies?: readonly string[]
}

const CONNECT = 'a CONNECT gets 405, and the connection is closed (RFC 9110 9.3.6)'
const UPGRADE = 'an Upgrade that is not taken up leaves the request it came with (RFC 9110 7.8)'

/** Node 20.20 has 9.3, which refuses what 9.4 of later Nodes takes. */
const REFUSES_TABS = /^9\.[0-3]\./.test(process.versions['llhttp'] ?? '')

/** Rows that end otherwise at an origin server than at the bare parser they were written for. */
const EXCEPTIONS: Readonly<Record<string, { readonly why: string; readonly status: number }>> = {
  ...(REFUSES_TABS && {
    h1033: { why: 'the parser of Node refuses a tab in front of a Content-Length', status: 400 },
  }),
  h1062: { why: CONNECT, status: 405 },
  h1063: { why: CONNECT, status: 405 },
  h1064: { why: CONNECT, status: 405 },
  h1085: { why: CONNECT, status: 405 },
  h1095: { why: UPGRADE, status: 200 },
  h1097: { why: UPGRADE, status: 200 },
  h1098: { why: UPGRADE, status: 200 },
  h1099: { why: UPGRADE, status: 200 },
  h1100: { why: UPGRADE, status: 200 },
}

describe('HTTP/1 vectors', () => {
  const rows = vectors<Row>('http1-llhttp')
  if (rows === undefined) {
    it('are held', function () {
      this.skip()
    })
    return
  }
  let requests: string[] = []
  let bodies = ''
  let changed: () => void = () => {}
  const server = createHttpServer((request, response) => {
    requests.push(`${request.method ?? ''} ${request.url ?? ''}`)
    changed()
    request.setEncoding('latin1')
    request.on('data', (piece: string) => {
      bodies += piece
      changed()
    })
    request.on('error', () => {})
    request.on('end', () => response.end('ok'))
  })
  const port = (): number => (server.address() as AddressInfo).port
  before((done) => void server.listen(0, '127.0.0.1', done))
  after((done) => {
    server.close(() => done())
    server.closeAllConnections()
  })
  beforeEach(() => {
    requests = []
    bodies = ''
  })

  const refused = (answer: RawAnswer): void => {
    expect(answer.isClosed).to.equal(true)
    const last = answer.text.slice(answer.text.lastIndexOf('HTTP/1.1 '))
    expect(statusOf(last)).to.equal(400)
    expect(bodyOf(last)).to.deep.equal({ code: 3, message: 'malformed HTTP request', details: [] })
  }

  for (const row of rows) {
    const exception = EXCEPTIONS[row.id]
    const bytes = (): Buffer => bytesOf(row)
    if (exception !== undefined)
      it(`${row.id} ${row.title} does not hold: ${exception.why}`, async () => {
        const isAnswered = (text: string): boolean => statusOf(text) === 200 || hasAnswer(text)
        expect(statusOf((await rawRequest(port(), bytes(), isAnswered)).text)).to.equal(exception.status)
      })
    else if (row.expect === 'parsed')
      it(`${row.id} ${row.title} is taken`, async () => {
        const whole = row.bodies?.join('') ?? ''
        const taken = new Promise<void>((resolve) => {
          changed = () => requests.length > 0 && bodies.startsWith(whole) && resolve()
        })
        const answer = rawRequest(port(), bytes(), () => bodies.startsWith(whole))
        await Promise.race([taken, answer])
        expect(requests[0]).to.equal(/^(\S+ \S+)/.exec(row.http.replace(/^(\\r\\n|\s)+/, ''))?.[1])
        expect(bodies.startsWith(whole)).to.equal(true)
      })
    else
      it(`${row.id} ${row.title} is refused: ${row.expect}`, async () =>
        refused(await rawRequest(port(), bytes())))
  }
})

/** The bytes of a row: lines end in CRLF, escapes are unescaped, and a request of HTTP/1.1 has a Host. */
function bytesOf({ http }: Row): Buffer {
  const text = http
    .replaceAll('\n', '\r\n')
    .replace(
      /\\(r|n|t|f|x[0-9a-fA-F]{2})/g,
      (_, escape: string) => UNESCAPED[escape] ?? byte(escape.slice(1)),
    )
  return Buffer.from(
    /^host:/im.test(text) ? text : text.replaceAll(/ HTTP\/1\.1\r\n/g, '$&Host: localhost\r\n'),
    'latin1',
  )
}

const UNESCAPED: Readonly<Record<string, string>> = { r: '\r', n: '\n', t: '\t', f: '\f' }
const byte = (hex: string): string => String.fromCharCode(Number.parseInt(hex, 16))
