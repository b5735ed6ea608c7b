import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect } from 'chai'
import { GatewayMux } from '../../../lib/gateway/routing/mux.js'
import type { Gateway } from '../../../lib/gateway/gateway.js'
import { until } from '../../support/until.js'
import { rawRequest, statusOf } from '../raw-request.js'
import { type Running, startGateway } from '../start-gateway.js'

const says = (text: string) => () => new Response(text)

describe('GatewayMux', () => {
  for (const [pattern, rule] of [
    ['/healthz', 'the probe is reserved'],
    ['/readyz', 'the probe is reserved'],
    ['', 'a path begins with "/"'],
    ['admin', 'a path begins with "/"'],
    ['/a?b', 'a path has no query'],
    ['/a#b', 'a path has no fragment'],
    ['/a b', 'a path has no space'],
    ['/{id}', 'a pattern is no template'],
    ['/a/*', 'a pattern is no template'],
    ['GET /a', 'a pattern has no method'],
  ] as const)
    it(`refuses ${JSON.stringify(pattern)} (${rule})`, () => {
      expect(() => new GatewayMux().handle(pattern, says(''))).to.throw(TypeError, /^gateway: /)
    })

  it('refuses a pattern that is taken', () => {
    const mux = new GatewayMux().handle('/a', says('')).handle('/a/', says(''))
    expect(() => mux.handle('/a', says(''))).to.throw(TypeError, 'gateway: "/a" is already mounted')
    expect(() => mux.handle('/a/', says(''))).to.throw(TypeError, 'gateway: "/a/" is already mounted')
  })
})

describe('mounted handlers', () => {
  const started: Running[] = []
  const failures: object[] = []
  const start = async (configure: (gateway: Gateway) => void): Promise<Running> => {
    const logger = { warn: () => {}, error: (fields: object) => failures.push(fields) }
    const running = await startGateway({ logger }, {}, configure)
    started.push(running)
    return running
  }
  afterEach(async () => {
    failures.length = 0
    await Promise.all(started.splice(0).map((running) => running.stop()))
  })

  it('win by the longest pattern, over the services too', async () => {
    const running = await start(({ mux }) =>
      mux
        .handle('/ui/', says('ui'))
        .handle('/ui/deep/', says('deep'))
        .handle('/ui/exact', says('exact'))
        .handle('/v1/echo', says('mine')),
    )
    for (const [path, text] of [
      ['/ui/', 'ui'],
      ['/ui/x?y=z', 'ui'],
      ['/ui/deep/', 'deep'],
      ['/ui/deep/x', 'deep'],
      ['/ui/deep', 'ui'],
      ['/ui/exact', 'exact'],
      ['/ui/exact/', 'ui'],
      ['/v1/echo', 'mine'],
    ] as const)
      expect(await (await running.fetch(path)).text(), path).to.equal(text)
    expect((await running.fetch('/ui')).status).to.equal(404)
    expect((await running.fetch('/v1/ping')).status).to.equal(200)
  })

  it('replace the services at "/", but not the probes', async () => {
    const running = await start(({ mux }) => mux.handle('/', says('all mine')))
    expect(await (await running.fetch('/v1/echo')).text()).to.equal('all mine')
    expect(await (await running.fetch('/healthz')).json()).to.deep.equal({ status: 'ok' })
    expect((await running.fetch('/healthz/')).status).to.equal(200)
    expect(await (await running.fetch('/healthz/')).text()).to.equal('all mine')
  })

  it('get a Fetch request and may respond in pieces', async () => {
    const running = await start(({ mux }) =>
      mux.handle('/fetch', async (request) => {
        const body = new ReadableStream({
          start: (controller) => {
            controller.enqueue(Buffer.from(`${request.method} ${new URL(request.url).search} `))
            controller.close()
          },
        })
        const headers = new Headers({
          'x-own': `${request.headers.get('x-sent') ?? ''}${await request.text()}`,
        })
        headers.append('set-cookie', 'a=1')
        headers.append('set-cookie', 'b=2')
        return new Response(body, { status: 201, headers })
      }),
    )
    const answer = await running.fetch('/fetch?q=1', {
      method: 'POST',
      body: 'body',
      headers: { 'x-sent': 's' },
    })
    expect(answer.status).to.equal(201)
    expect(answer.headers.get('x-own')).to.equal('sbody')
    expect(answer.headers.getSetCookie()).to.deep.equal(['a=1', 'b=2'])
    expect(await answer.text()).to.equal('POST ?q=1 ')
    expect(await (await running.fetch('/fetch', { method: 'HEAD' })).text()).to.equal('')
  })

  it('may be in the style of node:http', async () => {
    const running = await start(({ mux }) =>
      mux.handle('/node', (request: IncomingMessage, response: ServerResponse) => {
        response.writeHead(202, { 'x-url': request.url }).end('node')
      }),
    )
    const answer = await running.fetch('/node?x')
    expect([answer.status, answer.headers.get('x-url'), await answer.text()]).to.deep.equal([
      202,
      '/node?x',
      'node',
    ])
  })

  it('return 404 when a node-style handler hands on', async () => {
    const running = await start(({ mux }) =>
      mux.handle('/on/', (_request: unknown, _response: unknown, next: () => void) => next()),
    )
    const answer = await running.fetch('/on/x')
    expect([answer.status, await answer.json()]).to.deep.equal([
      404,
      { code: 5, message: 'no such path', details: [] },
    ])
  })

  for (const [style, handler] of [
    [
      'a Fetch handler that throws',
      () => {
        throw new TypeError('secret')
      },
    ],
    ['a Fetch handler that rejects', () => Promise.reject(new TypeError('secret'))],
    [
      'a node handler that throws',
      (_request: IncomingMessage, _response: ServerResponse) => {
        throw new TypeError('secret')
      },
    ],
    [
      'a node handler that rejects',
      (_request: IncomingMessage, _response: ServerResponse) => Promise.reject(new TypeError('secret')),
    ],
    [
      'a node handler that hands on an error',
      (_request: IncomingMessage, _response: ServerResponse, next: (error?: unknown) => void) =>
        next('secret'),
    ],
    ['a Fetch handler that returns nothing', () => undefined as unknown as Response],
  ] as const)
    it(`returns 500 without a reason for ${style}, and logs it`, async () => {
      const running = await start(({ mux }) => mux.handle('/bad', handler))
      const answer = await running.fetch('/bad')
      expect([answer.status, await answer.json()]).to.deep.equal([
        500,
        { code: 13, message: 'internal error', details: [] },
      ])
      expect(failures).to.have.lengthOf(1)
    })

  it('log what fails behind the headers, and cut the response', async () => {
    let breakOff: (() => void) | undefined
    const running = await start(({ mux }) =>
      mux.handle('/late', () => {
        const body = new ReadableStream({
          start: (controller) => {
            controller.enqueue(Buffer.from('one'))
            breakOff = () => controller.error(new TypeError('secret'))
          },
        })
        return new Response(body)
      }),
    )
    const answer = await running.fetch('/late')
    breakOff?.()
    expect(await answer.text().catch((error: unknown) => (error as Error).name)).to.equal('TypeError')
    // Which of the two comes first, the cut or the record, differs from Node to Node.
    await until(() => failures.length > 0)
    expect(failures).to.have.lengthOf(1)
  })

  for (const [host, status] of [
    ['a.example', 200],
    ['a.example:81', 200],
    ['[::1]:81', 200],
    ['user@a.example', 400],
    ['a.example/x', 400],
    ['a b', 400],
    ['a:port', 400],
  ] as const)
    it(`return ${status} for a Host of ${host}`, async () => {
      const running = await start(({ mux }) =>
        mux.handle('/host', (request) => new Response(new URL(request.url).host)),
      )
      const bytes = `GET http://ignored.example/host?x HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
      const { text } = await rawRequest(running.port, bytes)
      expect(statusOf(text)).to.equal(status)
      if (status === 200) expect(text).to.include(host)
    })

  it('tell a Fetch handler that its caller went away', async () => {
    let aborted: (() => void) | undefined
    const left = new Promise<void>((resolve) => (aborted = resolve))
    let entered: (() => void) | undefined
    const inside = new Promise<void>((resolve) => (entered = resolve))
    const running = await start(({ mux }) =>
      mux.handle('/slow', (request) => {
        entered?.()
        return new Promise(() => request.signal.addEventListener('abort', () => aborted?.()))
      }),
    )
    const gone = new AbortController()
    const answer = running.fetch('/slow', { signal: gone.signal }).catch(() => 'gone')
    await inside
    gone.abort()
    await left
    expect(await answer).to.equal('gone')
  })
})

describe('probes', () => {
  const started: Running[] = []
  afterEach(() => Promise.all(started.splice(0).map((running) => running.stop())))
  const start = async (
    readiness: () => Promise<readonly { name: string; ok: boolean }[]>,
  ): Promise<Running> => {
    const running = await startGateway({ readiness })
    started.push(running)
    return running
  }

  it('return 200 while all is well', async () => {
    const running = await start(() => Promise.resolve([{ name: 'db', ok: true }]))
    for (const path of ['/healthz', '/readyz', '/readyz?verbose']) {
      const answer = await running.fetch(path)
      expect([answer.status, await answer.json()]).to.deep.equal([200, { status: 'ok' }])
      expect(answer.headers.get('cache-control')).to.equal('no-store')
      expect(await (await running.fetch(path, { method: 'HEAD' })).text()).to.equal('')
    }
  })

  it('name the failing checks with 503, and nothing more', async () => {
    const running = await start(() =>
      Promise.resolve([
        { name: 'db', ok: false, error: 'password wrong' },
        { name: 'cache', ok: true },
      ]),
    )
    const answer = await running.fetch('/readyz')
    expect([answer.status, await answer.json()]).to.deep.equal([
      503,
      { status: 'unavailable', failing: ['db'] },
    ])
    expect((await running.fetch('/readyz', { method: 'HEAD' })).status).to.equal(503)
    expect((await running.fetch('/healthz')).status).to.equal(200)
  })

  it('count checks that cannot be run as failing', async () => {
    const running = await start(() => Promise.reject(new TypeError('secret')))
    const answer = await running.fetch('/readyz')
    expect([answer.status, await answer.json()]).to.deep.equal([
      503,
      { status: 'unavailable', failing: ['readiness'] },
    ])
  })

  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
    it(`return 405 and Allow for ${method}`, async () => {
      const running = await start(() => Promise.resolve([]))
      const answer = await running.fetch('/readyz', { method })
      expect([answer.status, answer.headers.get('allow')]).to.deep.equal([405, 'GET, HEAD'])
    })
})
