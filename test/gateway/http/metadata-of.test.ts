import { expect } from 'chai'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { GatewayOptions } from '../../../lib/gateway/gateway.js'
import { type Running, startGateway } from '../start-gateway.js'

const SENT = {
  'account-id': 't1',
  authorization: 'Bearer x',
  cookie: 'a=b',
  groups: 'admin, dev',
  'grpc-timeout': '5S',
  'idempotency-key': 'k1',
  'if-match': '"e"',
  subject: 'ann',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  tracestate: 'a=b',
  'x-forwarded-for': '1.2.3.4',
  'x-own': 'mine',
  'x-request-id': 'r1',
  'x-tenant': 'other',
} as const

describe('metadata of a call through the gateway', () => {
  const heard = async (
    options: Partial<GatewayOptions>,
  ): Promise<Running['dispatcher']['last']['incoming']> => {
    const running = await startGateway(options)
    try {
      await running.fetch('/v1/echo', { headers: SENT })
      return running.dispatcher.last.incoming
    } finally {
      await running.stop()
    }
  }

  const ALWAYS = ['authorization', 'idempotency-key', 'if-match', 'traceparent', 'tracestate', 'x-request-id']
  for (const [what, options, more] of [
    ['the known headers and nothing else', {}, ['account-id', 'groups', 'subject']],
    [
      'configured headers as well',
      { forwardHeaders: ['X-Own'] },
      ['account-id', 'groups', 'subject', 'x-own'],
    ],
  ] as const)
    it(`is ${what}`, async () => {
      const { metadata } = await heard(options)
      const entries = [...metadata.entries()].sort(([a], [b]) => a.localeCompare(b))
      expect(entries).to.deep.equal(
        [...ALWAYS, ...more].sort().map((name) => [name, SENT[name as keyof typeof SENT]]),
      )
    })

  it('says which listener, who, and until when', async () => {
    const before = Date.now()
    const incoming = await heard({})
    expect(incoming.transport).to.equal('http')
    expect(incoming.method.name).to.equal('Echo')
    expect(incoming.peer).to.match(/^127\.0\.0\.1:\d+$/)
    expect(incoming.deadline).to.be.within(before + 5000, Date.now() + 5000)
  })

  it('comes back as headers where it is meant to', async () => {
    const running = await startGateway({ responseHeaders: ['x-total'] })
    running.dispatcher.before = ({ incoming: { headers } }) => {
      headers
        .set('x-idempotent-replay', 'true')
        .append('x-total', '1')
        .append('x-total', '2')
        .set('x-secret', 'no')
      headers.set('x-request-id', 'r\u00e9')
    }
    try {
      const { headers } = await running.fetch('/v1/echo')
      expect(headers.get('x-idempotent-replay')).to.equal('true')
      expect(headers.get('x-total')).to.equal('1, 2')
      expect(headers.get('x-secret')).to.equal(null)
      expect(headers.get('x-request-id')).to.equal(null)
    } finally {
      await running.stop()
    }
  })

  it('aborts the call when the caller goes away', async () => {
    const running = await startGateway()
    const aborted = new Promise<void>((resolve) => {
      running.dispatcher.before = ({ incoming }) =>
        new Promise((_, reject) =>
          incoming.caller.signal.addEventListener('abort', () => {
            reject(new TypeError('gone'))
            resolve()
          }),
        )
    })
    try {
      const gone = new AbortController()
      const answer = running.fetch('/v1/echo', { signal: gone.signal }).catch((error: unknown) => error)
      while (running.dispatcher.heard.length === 0) await new Promise((resolve) => setImmediate(resolve))
      gone.abort()
      await aborted
      expect(await answer).to.have.property('name', 'AbortError')
    } finally {
      await running.stop()
    }
  })
})

describe('headers with the prefix of grpc-gateway', () => {
  let running: Running
  before(async () => {
    running = await startGateway({})
  })
  after(() => running.stop())

  /** The metadata of a call, or the status of a call that did not begin. */
  const sent = async (headers: Readonly<Record<string, string>>) => {
    const before = running.dispatcher.heard.length
    const response = await running.fetch('/v1/echo', { headers })
    if (running.dispatcher.heard.length === before) return response.status
    return Object.fromEntries(running.dispatcher.last.incoming.metadata.entries())
  }

  const VALUES = {
    'if-match': '"e"',
    'idempotency-key': 'k1',
    'x-request-id': 'r1',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    tracestate: 'a=b',
  }
  for (const [name, value] of Object.entries(VALUES)) {
    it(`count as ${name}`, async () => {
      expect(await sent({ [`Grpc-Metadata-${name}`]: value })).to.deep.include({ [name]: value })
      expect(await sent({ [`grpc-metadata-${name}`]: value, [name]: value })).to.deep.include({
        [name]: value,
      })
    })

    it(`are rejected if ${name} has another value`, async () => {
      expect(await sent({ [`grpc-metadata-${name}`]: value, [name]: `${value}0` })).to.equal(400)
    })
  }

  it('count as If-None-Match', async () => {
    const headers = { 'Grpc-Metadata-If-None-Match': '*' }
    running.dispatcher.before = ({ incoming }) => void incoming.trailers.set('etag', 'e')
    expect((await running.fetch('/v1/echo', { headers })).status).to.equal(304)
    running.dispatcher.before = () => {}
  })

  it('never identify a caller', async () => {
    const metadata = await sent({
      'grpc-metadata-authorization': 'Bearer x',
      'grpc-metadata-account-id': 'acme',
      'grpc-metadata-subject': 'ada',
      'grpc-metadata-groups': 'admin',
    })
    for (const name of ['authorization', 'account-id', 'subject', 'groups'])
      expect(metadata).to.not.have.property(name)
  })

  it('are rejected with two values', async () => {
    const { hostname, port } = new URL(running.url)
    const socket = connect(Number(port), hostname)
    const lines = ['GET /v1/echo HTTP/1.1', 'Host: a', 'Connection: close', '', '']
    lines.splice(3, 0, 'Grpc-Metadata-Idempotency-Key: a', 'Grpc-Metadata-Idempotency-Key: b')
    socket.end(lines.join('\r\n'))
    expect(await text(socket)).to.match(/^HTTP\/1.1 400 /)
  })
})
