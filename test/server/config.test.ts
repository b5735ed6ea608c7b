import { expect } from 'chai'
import { DevAuthorizer } from '../../lib/server/authorizer.js'
import { type Config, DefaultGRPCAddr, NoTimeout, resolveConfig } from '../../lib/server/config.js'
import { Metadata } from '../../lib/server/call.js'
import { ServerBuilder } from '../../lib/server/server-builder.js'
import type { Principal } from '../../lib/context.js'

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
    ['rateLimiter', defaults.resilience.rateLimiter, undefined],
    ['circuitBreaker', defaults.resilience.circuitBreaker, undefined],
    ['allowDevelopment', defaults.allowDevelopment, false],
  ]
  for (const [name, actual, expected] of rows)
    it(`has ${JSON.stringify(expected)} as the default of ${name}`, () => {
      expect(actual).to.deep.equal(expected)
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

  const handler = () => Promise.resolve(new Response())
  const mistakes: readonly (readonly [string, Config, RegExp])[] = [
    ['no grpcAddr', {}, /grpcAddr is empty/],
    ['an empty grpcAddr', { grpcAddr: '' }, /grpcAddr is empty/],
    ['a grpcAddr without a port', { grpcAddr: 'localhost' }, /grpcAddr "localhost" is no address/],
    ['a port that is none', { grpcAddr: ':70000' }, /grpcAddr ":70000" is no address/],
    ['an httpAddr that is none', { grpcAddr: ':0', httpAddr: 'x' }, /httpAddr "x" is no address/],
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
      /rules: "Get" is no full method name/,
    ],
    [
      'a negative timeout',
      { grpcAddr: ':0', resilience: { requestTimeoutMs: -1 } },
      /requestTimeoutMs is -1/,
    ],
    [
      'a timeout that is no number',
      { grpcAddr: ':0', resilience: { perMethodTimeoutMs: { '/a.B/C': NaN } } },
      /\/a\.B\/C is NaN/,
    ],
    [
      'a timeout for a bare method name',
      { grpcAddr: ':0', resilience: { perMethodTimeoutMs: { C: 1 } } },
      /perMethodTimeoutMs: "C" is no full method name/,
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
      /"db" is there twice/,
    ],
  ]
  for (const [name, config, text] of mistakes)
    it(`refuses ${name}`, () => {
      expect(() => resolveConfig(config)).to.throw(TypeError, text)
    })

  it('reports all mistakes together', () => {
    const config: Config = { httpAddr: 'x', resilience: { requestTimeoutMs: -1 }, rules: [{ method: 'Get' }] }
    expect(() => new ServerBuilder(config).build()).to.throw(
      /4 problem\(s\)[^]*grpcAddr[^]*httpAddr[^]*rules[^]*requestTimeoutMs/,
    )
  })
})
