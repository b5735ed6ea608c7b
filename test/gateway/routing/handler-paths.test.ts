import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect } from 'chai'
import fc from 'fast-check'
import { GatewayMux, type HttpHandler } from '../../../lib/gateway/routing/mux.js'
import { drill } from '../../support/drill.js'
import { rawRequest, statusOf } from '../raw-request.js'
import { type Running, startGateway } from '../start-gateway.js'

const PATTERNS = ['/public/', '/public/exact', '/admin', '/admin/', '/v1/echo']

/** Answers with the pattern it is mounted at and with what it was given. */
const STYLES: Readonly<Record<string, (pattern: string) => HttpHandler>> = {
  'a Fetch handler': (pattern) => (request: Request) => {
    const { pathname, search } = new URL(request.url)
    return new Response(`${pattern} ${pathname}${search}`)
  },
  'a node handler': (pattern) => (request: IncomingMessage, response: ServerResponse) =>
    void response.end(`${pattern} ${request.url}`),
}

for (const [style, handlerOf] of Object.entries(STYLES))
  describe(`the path of ${style}`, () => {
    let running: Running
    before(async () => {
      running = await startGateway({}, {}, ({ mux }) => {
        for (const pattern of PATTERNS) mux.handle(pattern, handlerOf(pattern))
      })
    })
    after(() => running.stop())

    /** What answered a request whose target is sent as it is: a handler with what it saw, or a status. */
    const ask = async (target: string): Promise<string> => {
      const { text } = await rawRequest(
        running.port,
        `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
      )
      const body = /^(?:\/\S*) (\S*)$/m.exec(text)?.[0]
      return statusOf(text) === 200 && body !== undefined ? body : String(statusOf(text))
    }

    for (const [target, answer, rule] of [
      ['/public/x?y=/../z', '/public/ /public/x?y=/../z', 'a query is not a path'],
      ['/public/../admin', '/admin /admin', 'RFC 3986 5.2.4: dot segments are removed'],
      ['/public/..', '404', 'RFC 3986 5.2.4: dot segments are removed'],
      ['/public/../../../admin/x', '/admin/ /admin/x', 'RFC 3986 5.2.4: not above the root'],
      ['/public/./x', '/public/ /public/x', 'RFC 3986 5.2.4: dot segments are removed'],
      ['/admin/.', '/admin/ /admin/', 'RFC 3986 5.2.4: dot segments are removed'],
      ['/x/../public/x', '/public/ /public/x', 'RFC 3986 5.2.4: dot segments are removed'],
      ['/public/%2e%2e/admin', '/admin /admin', 'RFC 3986 6.2.2.2: an escaped dot is a dot'],
      ['/public/.%2E/admin', '/admin /admin', 'RFC 3986 6.2.2.2: an escaped dot is a dot'],
      ['/public/%2E/x', '/public/ /public/x', 'RFC 3986 6.2.2.2: an escaped dot is a dot'],
      ['/public/%252e%252e/admin', '/public/ /public/%252e%252e/admin', 'escapes are decoded once'],
      [
        '/public/..%2fadmin',
        '/public/ /public/..%2Fadmin',
        'RFC 3986 2.2: an escaped slash separates nothing',
      ],
      [
        '/public/%2e%2e%2Fadmin',
        '/public/ /public/..%2Fadmin',
        'RFC 3986 2.2: an escaped slash separates nothing',
      ],
      ['/public%2f..%2fadmin', '404', 'RFC 3986 2.2: an escaped slash separates nothing'],
      ['/public/..\\admin', '/admin /admin', 'the URL standard: a backslash is a slash'],
      ['/public\\..\\admin', '/admin /admin', 'the URL standard: a backslash is a slash'],
      ['/public/..%5cadmin', '/public/ /public/..%5Cadmin', 'an escaped backslash separates nothing'],
      ['/public//x', '/public/ /public//x', 'RFC 3986 3.3: an empty segment is a segment'],
      ['/public//../admin', '/public/ /public/admin', 'RFC 3986 5.2.4: a dot segment removes an empty one'],
      ['//admin', '404', 'RFC 3986 3.3: an empty segment is a segment'],
      ['//public/x', '404', 'RFC 3986 3.3: an empty segment is a segment'],
      ['/public/..//admin', '404', 'RFC 3986 3.3: an empty segment is a segment'],
      ['/public/...', '/public/ /public/...', 'three dots are a name'],
      ['/public/..x', '/public/ /public/..x', 'dots in a name are a name'],
      ['/%61dmin', '/admin /admin', 'RFC 3986 6.2.2.2: an escaped letter is a letter'],
      ['/v1/%65cho', '/v1/echo /v1/echo', 'a handler shadows a service in every spelling'],
      ['/v1/x/../echo', '/v1/echo /v1/echo', 'a handler shadows a service in every spelling'],
      ['/public/%7eme', '/public/ /public/~me', 'RFC 3986 6.2.2.2'],
      ['/public/a%3fb', '/public/ /public/a%3Fb', 'RFC 3986 2.2: an escaped question mark begins no query'],
      ['/public/a%23b?c', '/public/ /public/a%23b?c', 'RFC 3986 2.2'],
      ['/public/a#b', '/public/ /public/a', 'RFC 9112 3.2: a fragment is not sent'],
      ['/public/%zz', '/public/ /public/%zz', 'what is no escape stays'],
      ['http://other/public/../admin?x', '/admin /admin?x', 'RFC 9112 3.2.2: absolute form'],
      ['http://other/public/x', '/public/ /public/x', 'RFC 9112 3.2.2: absolute form'],
      ['/public/exact/..', '/public/ /public/', 'RFC 3986 5.2.4'],
    ] as const)
      it(`is ${answer} for ${target} (${rule})`, async () => {
        expect(await ask(target)).to.equal(answer)
      })

    it('leaves the probes to nobody, in any spelling', async () => {
      const all = await startGateway({}, {}, ({ mux }) => mux.handle('/', handlerOf('/')))
      try {
        for (const target of ['/healthz', '/x/../healthz', '/%68ealthz', '/./readyz', '/\\..\\readyz']) {
          const bytes = `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`
          expect((await rawRequest(all.port, bytes)).text, target).to.include('{"status":"ok"}')
        }
      } finally {
        await all.stop()
      }
    })

    it('is the one that found the handler, however the request is spelled', async () => {
      const pieces = [
        '/',
        '//',
        '.',
        '..',
        '%2e',
        '%2E%2e',
        '%2f',
        '\\',
        '%5C',
        'public',
        '%70ublic',
        'admin',
        'x',
        '%25',
        ':',
      ]
      const target = fc
        .array(fc.constantFrom(...pieces), { maxLength: 12 })
        .map((some) => `/${some.join('')}`)
      await fc.assert(
        fc.asyncProperty(target, async (path) => {
          const answer = await ask(path)
          if (/^\d+$/.test(answer)) return
          const [pattern = '', seen = ''] = answer.split(' ')
          if (pattern.endsWith('/')) expect(seen.startsWith(pattern), answer).to.equal(true)
          else expect(seen).to.equal(pattern)
          expect(new URL(`http://localhost${seen}`).pathname).to.equal(seen)
          expect(seen).not.to.match(/\\|(?:^|\/)\.{1,2}(?:\/|$)|%2e/i)
        }),
        { numRuns: drill(150, 5000) },
      )
    })
  })

describe('GatewayMux', () => {
  for (const [pattern, instead] of [
    ['/a/../b', '/b'],
    ['/a/./', '/a/'],
    ['/%61', '/a'],
    ['/a%2fb', '/a%2Fb'],
    ['/a\\b', '/a/b'],
    ['/é/', '/%C3%A9/'],
    ['/%68ealthz', '/healthz'],
  ] as const)
    it(`refuses ${pattern}, which no request would match, and says what to write`, () => {
      expect(() => new GatewayMux().handle(pattern, () => new Response())).to.throw(
        TypeError,
        `gateway: no request matches "${pattern}": write "${instead}"`,
      )
    })
})
