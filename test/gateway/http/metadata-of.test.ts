import { expect } from 'chai'
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
