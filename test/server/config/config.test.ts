import { expect } from 'chai'
import { DevAuthorizer } from '../../../lib/server/authz/dev-authorizer.js'
import { type Config, DefaultGRPCAddr, NoTimeout, resolveConfig } from '../../../lib/server/config/config.js'
import { Metadata } from '../../../lib/call.js'
import { ServerBuilder } from '../../../lib/server/server-builder.js'
import { MemoryIdempotencyStore } from '../../../lib/server/idempotency/memory-idempotency-store.js'
import { MemoryOperationStore } from '../../../lib/server/operations/memory-operation-store.js'
import { authority } from '../../support/servers/certificates.js'
import type { Principal } from '../../../lib/context.js'

const source = (verified?: Principal) => ({
  metadata: new Metadata([['subject', 'mallory']]),
  peer: '',
  verified,
  signal: new AbortController().signal,
})

describe('resolveConfig', () => {
  const defaults = resolveConfig({ grpcAddr: DefaultGRPCAddr })

  const rows: readonly (readonly [string, unknown, unknown])[] = [
    ['DefaultGRPCAddr', DefaultGRPCAddr, ':9090'],
    ['httpAddr', defaults.httpAddr, ''],
    ['rules', defaults.rules, []],
    ['authenticator', defaults.authenticator, undefined],
    ['interceptors', defaults.interceptors, []],
    ['httpHandlers', defaults.httpHandlers, []],
    ['readinessChecks', defaults.readinessChecks, []],
    ['requestTimeoutMs', defaults.resilience.requestTimeoutMs, 30_000],
    ['perMethodTimeoutMs', [...defaults.resilience.perMethodTimeoutMs], []],
    ['updateMask', defaults.gateway.updateMask, 'spec'],
    ['maxBodyBytes', defaults.gateway.maxBodyBytes, 1024 * 1024],
    ['compress', defaults.gateway.compress, true],
    ['cors', defaults.gateway.cors, undefined],
    ['forwardHeaders', defaults.gateway.forwardHeaders, []],
    ['responseHeaders', defaults.gateway.responseHeaders, []],
    ['onIgnoredMask', defaults.gateway.onIgnoredMask, undefined],
    ['http2', defaults.gateway.http2, undefined],
    ['grpc', defaults.gateway.grpc, false],
    ['connect', defaults.gateway.connect, undefined],
    ['openapi', defaults.gateway.openapi, undefined],
    ['docs', defaults.gateway.docs, undefined],
    ['metricsAddr', defaults.metricsAddr, ''],
    ['tls', defaults.tls, undefined],
    ['httpTls', defaults.httpTls, undefined],
    ['workers', defaults.workers, []],
    ['slowListMs', defaults.slowListMs, 1_000],
    ['shutdownDelayMs', defaults.shutdownDelayMs, 0],
    ['reflection', defaults.reflection, false],
    ['maxMessageBytes', defaults.limits.maxMessageBytes, 4 * 1024 * 1024],
    ['unauthenticatedBytes', defaults.limits.unauthenticatedBytes, 32 * 1024 * 1024],
    ['maxConcurrentStreams', defaults.limits.maxConcurrentStreams, 1_000],
    ['grpcKeepaliveMs', defaults.limits.grpcKeepaliveMs, 60_000],
    ['grpcKeepaliveTimeoutMs', defaults.limits.grpcKeepaliveTimeoutMs, 20_000],
    ['grpcMaxIdleMs', defaults.limits.grpcMaxIdleMs, Infinity],
    ['grpcMaxAgeMs', defaults.limits.grpcMaxAgeMs, Infinity],
    ['maxHttpConnections', defaults.limits.maxHttpConnections, Infinity],
    ['httpHeadersMs', defaults.limits.httpHeadersMs, 10_000],
    ['httpRequestMs', defaults.limits.httpRequestMs, 30_000],
    ['httpKeepaliveMs', defaults.limits.httpKeepaliveMs, 65_000],
    ['maxHeaderBytes', defaults.limits.maxHeaderBytes, 16_384],
    ['maxTotalSize', defaults.limits.maxTotalSize, 10_000],
    ['maxPageBytes', defaults.limits.maxPageBytes, 3 * 1024 * 1024],
    ['maxResponseBytes', defaults.limits.maxResponseBytes, 64 * 1024 * 1024],
    ['maxElements', defaults.limits.maxElements, 100_000],
    ['maxTenantConnections', defaults.limits.maxTenantConnections, Infinity],
    ['maxTenantUnfinishedBytes', defaults.limits.maxTenantUnfinishedBytes, 64 * 1024 * 1024],
    ['rateLimiter', defaults.resilience.rateLimiter, undefined],
    ['circuitBreaker', defaults.resilience.circuitBreaker, undefined],
    ['explainDenials', defaults.explainDenials, false],
    ['allowDevelopment', defaults.allowDevelopment, false],
  ]
  for (const [name, actual, expected] of rows)
    it(`has ${JSON.stringify(expected)} as the default of ${name}`, () => {
      expect(actual).to.deep.equal(expected)
    })

  it('says something of every field', () => {
    const { gateway, resilience, limits, ...rest } = defaults
    const behaviour = ['authorizer', 'principalFunc', 'idempotencyStore', 'operationStore', 'logger']
    const said = [...rows.map(([name]) => name), ...behaviour, 'grpcAddr']
    const fields = [rest, gateway, resilience, limits].flatMap((part) => Object.keys(part))
    expect(fields.filter((name) => !said.includes(name))).to.deep.equal([])
  })

  it('requires grpcAddr, which is what it was given', () => {
    for (const none of [{}, { grpcAddr: '' }])
      expect(() => resolveConfig(none)).to.throw('grpcAddr is empty: give an address such as')
    expect(resolveConfig({ grpcAddr: ':1' }).grpcAddr).to.equal(':1')
  })

  it('keeps responses and operations in memory by default', () => {
    // How long is held by the suites of the stores, which run on the default.
    expect(defaults.idempotencyStore).to.be.instanceOf(MemoryIdempotencyStore)
    expect(defaults.operationStore).to.be.instanceOf(MemoryOperationStore)
  })

  it('logs JSON lines on stderr by default', async () => {
    const written: string[] = []
    const { write } = process.stderr
    process.stderr.write = ((text: string) => written.push(text)) as never
    try {
      defaults.logger.info({ a: 1 }, 'hello')
      defaults.logger.debug({ a: 2 }, 'not by default')
      await new Promise(setImmediate)
    } finally {
      process.stderr.write = write
    }
    expect(JSON.parse(written.join(''))).to.include({ level: 'info', msg: 'hello', a: 1 })
  })

  it('denies everything by default', () => {
    const { authorizer } = defaults
    expect(authorizer).to.be.instanceOf(DevAuthorizer)
    expect((authorizer as DevAuthorizer).grants).to.deep.equal([])
  })

  it('knows nobody by default, whatever the headers say', async () => {
    expect(await defaults.principalFunc(source())).to.deep.equal({
      subject: '',
      tenant: '',
      groups: [],
      scopes: [],
    })
  })

  it('reads the verified principal where there is an authenticator', async () => {
    const alice: Principal = { subject: 'alice', tenant: 'acme', groups: [], scopes: [] }
    const { principalFunc } = resolveConfig({
      grpcAddr: ':0',
      authenticator: { authenticate: async () => alice },
    })
    expect(await principalFunc(source(alice))).to.equal(alice)
    expect((await principalFunc(source())).subject).to.equal('')
  })

  it('makes a zero timeout the default one', () => {
    const { resilience } = resolveConfig({
      grpcAddr: ':0',
      resilience: { requestTimeoutMs: 0, perMethodTimeoutMs: { '/a.B/C': NoTimeout, '/a.B/D': 0 } },
    })
    expect(resilience.requestTimeoutMs).to.equal(30_000)
    expect([...resilience.perMethodTimeoutMs]).to.deep.equal([
      ['/a.B/C', NoTimeout],
      ['/a.B/D', 30_000],
    ])
  })

  const one = authority('one').issue('localhost')
  const two = authority('two').issue('localhost')
  const tls = { certificateChain: one.certificate, privateKey: one.key }

  it('speaks TLS on both listeners with one certificate, unless the gateway has its own or none', () => {
    const other = { certificateChain: two.certificate, privateKey: two.key }
    const httpOf = (httpTls: Config['httpTls']) =>
      resolveConfig({ grpcAddr: ':0', httpAddr: ':0', tls, ...(httpTls && { httpTls }) }).httpTls
    expect([httpOf(undefined), httpOf(other), httpOf('none')]).to.deep.equal([tls, other, undefined])
  })

  const handler = () => Promise.resolve(new Response())
  const mistakes: readonly (readonly [string, Config, RegExp])[] = [
    ['no grpcAddr', {}, /grpcAddr is empty/],
    ['an empty grpcAddr', { grpcAddr: '' }, /grpcAddr is empty/],
    ['a grpcAddr without a port', { grpcAddr: 'localhost' }, /grpcAddr "localhost" is not an address/],
    ['a port that is none', { grpcAddr: ':70000' }, /grpcAddr ":70000" is not an address/],
    ['an httpAddr that is none', { grpcAddr: ':0', httpAddr: 'x' }, /httpAddr "x" is not an address/],
    [
      'handlers without httpAddr',
      { grpcAddr: ':0', httpHandlers: [{ pattern: '/x', handler }] },
      /httpHandlers need an httpAddr/,
    ],
    [
      'a pattern without a slash',
      { grpcAddr: ':0', httpAddr: ':0', httpHandlers: [{ pattern: 'x', handler }] },
      /pattern "x" does not begin with \//,
    ],
    [
      'a rule for a bare method name',
      { grpcAddr: ':0', rules: [{ method: 'Get', verb: 'get' }] },
      /rules: "Get" is not a full method name/,
    ],
    [
      'a negative timeout',
      { grpcAddr: ':0', resilience: { requestTimeoutMs: -1 } },
      /requestTimeoutMs is -1/,
    ],
    [
      'a timeout that is not a number',
      { grpcAddr: ':0', resilience: { perMethodTimeoutMs: { '/a.B/C': NaN } } },
      /\/a\.B\/C is NaN/,
    ],
    [
      'a timeout for a bare method name',
      { grpcAddr: ':0', resilience: { perMethodTimeoutMs: { C: 1 } } },
      /perMethodTimeoutMs: "C" is not a full method name/,
    ],
    [
      'a certificate that is none',
      { grpcAddr: ':0', tls: { ...tls, certificateChain: 'x' } },
      /tls\.certificateChain is not PEM/,
    ],
    [
      'a broken certificate',
      { grpcAddr: ':0', tls: { ...tls, certificateChain: one.certificate.replace(/\n.{9}/, '\nAAAAAAAAA') } },
      /tls\.certificateChain is not PEM/,
    ],
    [
      'a key that is none',
      { grpcAddr: ':0', tls: { ...tls, privateKey: one.certificate } },
      /tls\.privateKey is not an unencrypted private key/,
    ],
    [
      'a key of another certificate',
      { grpcAddr: ':0', tls: { ...tls, privateKey: two.key } },
      /tls\.privateKey does not belong/,
    ],
    [
      'a client CA that is none',
      { grpcAddr: ':0', tls: { ...tls, clientCa: '' } },
      /tls\.clientCa is not PEM/,
    ],
    [
      'client certificates without who signs them',
      { grpcAddr: ':0', tls: { ...tls, requireClientCertificate: true } },
      /tls\.requireClientCertificate needs tls\.clientCa/,
    ],
    [
      'mistakes in the TLS of the gateway',
      { grpcAddr: ':0', httpAddr: ':0', httpTls: { ...tls, privateKey: 'x' } },
      /httpTls\.privateKey is not an unencrypted private key/,
    ],
    ['TLS for a gateway that is not there', { grpcAddr: ':0', httpTls: tls }, /httpTls needs an httpAddr/],
    ['a limit of nothing', { grpcAddr: ':0', limits: { maxMessageBytes: 0 } }, /maxMessageBytes is 0/],
    ['a limit of a half', { grpcAddr: ':0', limits: { httpHeadersMs: 0.5 } }, /httpHeadersMs is 0\.5/],
    [
      'messages without bound',
      { grpcAddr: ':0', limits: { maxMessageBytes: Infinity } },
      /maxMessageBytes is Infinity/,
    ],
    [
      'a limit that is none',
      { grpcAddr: ':0', limits: { maxMesageBytes: 1 } as never },
      /`maxMesageBytes` is not in `limits`; did you mean `maxMessageBytes`\?/,
    ],
    [
      'a name that is none',
      { grpcAddr: ':0', httpAdr: ':0' } as Config,
      /`httpAdr` is not in the configuration; did you mean `httpAddr`\?/,
    ],
    [
      'a name that is none, of resilience',
      { grpcAddr: ':0', resilience: { ratelimiter: {} } as never },
      /`ratelimiter` is not in `resilience`; did you mean `rateLimiter`\?/,
    ],
    [
      'a name that is none, of the gateway',
      { grpcAddr: ':0', httpAddr: ':0', gateway: { maxBody: 1 } as never },
      /`maxBody` is not in `gateway`/,
    ],
    [
      'a mode of masks that is none',
      { grpcAddr: ':0', httpAddr: ':0', gateway: { updateMask: 'lenient' as never } },
      /gateway: updateMask is "lenient": give 'spec', 'strict' or 'normalize'/,
    ],
    [
      'a readiness check twice',
      {
        grpcAddr: ':0',
        readinessChecks: [
          { name: 'db', check: () => {} },
          { name: 'db', check: () => {} },
        ],
      },
      /"db" is listed twice/,
    ],
  ]
  for (const [name, config, text] of mistakes)
    it(`refuses ${name}`, () => {
      expect(() => resolveConfig(config)).to.throw(TypeError, text)
    })

  it('says nothing of a key in what it says of it', () => {
    const wrong = { ...tls, privateKey: two.key, clientCa: two.key }
    try {
      expect.fail(String(resolveConfig({ grpcAddr: ':0', tls: wrong })))
    } catch (error) {
      expect((error as Error).message).to.match(/2 problem/)
      expect((error as Error).message).not.to.contain(two.key.split('\n')[1])
    }
  })

  it('reports all mistakes together', () => {
    const config: Config = { httpAddr: 'x', resilience: { requestTimeoutMs: -1 }, rules: [{ method: 'Get' }] }
    expect(() => new ServerBuilder(config).build()).to.throw(
      /4 problem\(s\)[^]*grpcAddr[^]*httpAddr[^]*rules[^]*requestTimeoutMs/,
    )
  })
})
