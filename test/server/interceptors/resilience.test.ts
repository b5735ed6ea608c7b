import { expect } from 'chai'
import { circuitBreaker, ConsecutiveBreaker, handleAll } from 'cockatiel'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import { createClient } from 'redis'
import { ANONYMOUS } from '../../../lib/context.js'
import {
  ErrNotFound,
  InvalidArgument,
  PermissionDenied,
  Unauthenticated,
  Unavailable,
} from '../../../lib/errors.js'
import type { Authenticator } from '../../../lib/server/authn/authenticator.js'
import type { Config } from '../../../lib/server/config/config.js'
import type { PrincipalFunc } from '../../../lib/server/interceptors/authorization.js'
import type { RateLimiter } from '../../../lib/server/rate-limit/rate-limiter.js'
import { EchoService } from '../../support/gen/specimens_pb.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { ALICE, post, type RunningServer, startServer } from '../../support/servers/server.js'
import { serviceUrl } from '../../support/running/services.js'
import { leftOut } from '../../support/running/summary.js'
import { echoService } from '../../support/grpc/echo.js'

describe('the rate limiter', () => {
  let running: RunningServer
  let client: ForeignClient

  const start = async (rateLimiter: RateLimiter) => {
    running = await startServer((builder) => builder.register(EchoService, echoService), {
      resilience: { rateLimiter },
    })
    client = new ForeignClient(EchoService, running.grpc)
  }

  afterEach(async () => {
    client?.close()
    await running?.stop()
  })

  const sheds = async () => {
    for (let n = 0; n < 2; n++) expect((await client.unary('Echo', {}, ALICE)).code).to.equal(0)
    const shed = await client.unary('Echo', {}, ALICE)
    expect([shed.code, shed.details]).to.deep.equal([8, 'too many requests: retry later'])
    expect(
      Buffer.from(shed.trailers.get('grpc-status-details-bin')[0] as Buffer).toString('latin1'),
    ).to.contain('RetryInfo')
    expect((await client.stream('Chat', [{}], ALICE)).code).to.equal(8)
    expect((await fetch(`${running.http}/v1/echo`, post(ALICE))).status).to.equal(429)
    expect((await client.unary('Echo', {}, { ...ALICE, 'account-id': 'other' })).code).to.equal(0)
  }

  it('sheds what is beyond the share of a tenant, with rate-limiter-flexible in memory', async () => {
    await start(new RateLimiterMemory({ points: 2, duration: 60 }))
    await sheds()
  })

  it('sheds what is beyond the share of a tenant, with rate-limiter-flexible on Redis', async function () {
    const url = serviceUrl('redis')
    if (url === undefined) {
      leftOut('the rate limiter on Redis', 'no Redis')
      return this.skip()
    }
    const storeClient = createClient({ url })
    await storeClient.connect()
    await start(
      new RateLimiterRedis({
        storeClient,
        useRedisPackage: true,
        keyPrefix: `ashlar-test:${Date.now()}`,
        points: 2,
        duration: 60,
      }),
    )
    await sheds()
    await storeClient.close()
  })

  it('counts callers that name no tenant by their address, whatever their port', async () => {
    const keys: string[] = []
    await start({ consume: async (key) => void keys.push(key) })
    await client.unary('Ping', {})
    await client.unary('Ping', {}, ALICE)
    const another = new ForeignClient(EchoService, running.grpc)
    await another.unary('Ping', {})
    another.close()
    expect(keys).to.deep.equal(['peer:127.0.0.1', 'tenant:acme', 'peer:127.0.0.1'])
  })

  describe('with an authenticator', () => {
    const keys: string[] = []
    const BEARER = { authorization: 'Bearer acme' }
    const WRONG = { authorization: 'Bearer wrong' }
    const CLAIM = { 'account-id': 'acme', subject: 'alice', groups: 'makers' }
    /** A token is the name of a tenant; `wrong` is none, and `homeless` is of no tenant. */
    const authenticator: Authenticator = {
      authenticate: async (token) => {
        if (token === 'wrong') throw new Unauthenticated()
        return { subject: 'alice', tenant: token === 'homeless' ? '' : token, groups: [], scopes: [] }
      },
    }
    const startWith = async (config: Config = {}, points = Number.POSITIVE_INFINITY) => {
      keys.length = 0
      const used = new Map<string, number>()
      const consume = async (key: string) => {
        keys.push(key)
        used.set(key, (used.get(key) ?? 0) + 1)
        if ((used.get(key) ?? 0) > points) throw { msBeforeNext: 1000 } as unknown as Error
      }
      running = await startServer((builder) => builder.register(EchoService, echoService), {
        authenticator,
        principalFunc: undefined as never,
        resilience: { rateLimiter: { consume } },
        ...config,
      })
      client = new ForeignClient(EchoService, running.grpc)
    }

    const callers: readonly (readonly [string, Record<string, string>, string, number])[] = [
      ['somebody of a tenant', BEARER, 'tenant:acme', 0],
      ['somebody who claims another tenant', { ...BEARER, 'account-id': 'other' }, 'tenant:acme', 0],
      ['somebody without a tenant', { authorization: 'Bearer homeless' }, 'peer:127.0.0.1', 0],
      ['nobody', {}, 'peer:127.0.0.1', 7],
      ['nobody who claims a tenant', CLAIM, 'peer:127.0.0.1', 7],
      ['whoever has a wrong token', { ...WRONG, ...CLAIM }, 'peer:127.0.0.1', 16],
      ['whoever has a bearer that is no token', { authorization: 'Bearer', ...CLAIM }, 'peer:127.0.0.1', 16],
      ['whoever uses another scheme', { authorization: 'Basic YTpi', ...CLAIM }, 'peer:127.0.0.1', 7],
    ]
    for (const [name, headers, key, code] of callers)
      it(`charges the call of ${name} to ${key}, once`, async () => {
        await startWith()
        expect((await client.unary('Echo', {}, headers)).code).to.equal(code)
        expect((await client.stream('Chat', [{}], headers)).code).to.equal(code)
        const { status } = await fetch(`${running.http}/v1/echo`, post(headers))
        expect(status).to.equal({ 0: 200, 7: 403, 16: 401 }[code])
        expect(keys).to.deep.equal([key, key, key])
      })

    it('charges a public method to the tenant of whoever calls it, else to the address', async () => {
      await startWith()
      for (const headers of [BEARER, {}, CLAIM, WRONG]) await client.unary('Ping', {}, headers)
      expect(keys).to.deep.equal(['tenant:acme', 'peer:127.0.0.1', 'peer:127.0.0.1', 'peer:127.0.0.1'])
    })

    it('serves a tenant while others, at the same address, use up the share of nobody in its name', async () => {
      await startWith({}, 3)
      for (const headers of [CLAIM, { ...WRONG, ...CLAIM }]) {
        for (let n = 0; n < 5; n++) await client.unary('Echo', {}, headers)
        expect((await client.unary('Echo', {}, headers)).code).to.equal(8)
        expect((await fetch(`${running.http}/v1/echo`, post(headers))).status).to.equal(429)
      }
      expect((await client.unary('Echo', {}, BEARER)).code).to.equal(0)
    })

    it('sheds what is beyond the share of a tenant, and not the next tenant at the same address', async () => {
      await startWith({}, 1)
      expect((await client.unary('Echo', {}, BEARER)).code).to.equal(0)
      expect((await client.unary('Echo', {}, BEARER)).code).to.equal(8)
      expect((await client.unary('Echo', {}, { authorization: 'Bearer other' })).code).to.equal(0)
      expect((await client.unary('Ping', {})).code).to.equal(0)
    })

    it('charges calls that are denied', async () => {
      await startWith({ authorizer: { authorize: () => false } })
      expect((await client.unary('Echo', {}, BEARER)).code).to.equal(7)
      expect(keys).to.deep.equal(['tenant:acme'])
    })

    it('charges the tenant that a principal function decides on, and the address where it fails', async () => {
      const principalFunc: PrincipalFunc = ({ verified, metadata }) => {
        if (metadata.get('x-fail') !== undefined) throw new PermissionDenied()
        return { ...(verified ?? ANONYMOUS), tenant: 'decided' }
      }
      await startWith({ principalFunc })
      await client.unary('Echo', {}, BEARER)
      await client.unary('Echo', {}, { ...BEARER, 'x-fail': '1' })
      expect(keys).to.deep.equal(['tenant:decided', 'peer:127.0.0.1'])
    })

    it('believes no header where callers cannot be anybody', async () => {
      await startWith({ authenticator: undefined as never })
      for (const headers of [CLAIM, { ...CLAIM, ...BEARER }]) await client.unary('Ping', {}, headers)
      expect(keys).to.deep.equal(['peer:127.0.0.1', 'peer:127.0.0.1'])
    })
  })

  it('lets calls through, and says so in the log, when it is out of order itself', async () => {
    await start({ consume: () => Promise.reject(new Error('no connection')) })
    expect((await client.unary('Echo', {}, ALICE)).code).to.equal(0)
    expect(running.records[0]).to.deep.include({
      level: 'warn',
      message: 'the rate limiter failed, so the call is not limited',
    })
  })
})

describe('the circuit breaker', () => {
  let running: RunningServer
  let client: ForeignClient
  let runs = 0
  let thrown: unknown

  before(async () => {
    const fail = () => {
      runs++
      throw thrown
    }
    const breaker = circuitBreaker(handleAll, { halfOpenAfter: 60_000, breaker: new ConsecutiveBreaker(3) })
    running = await startServer(
      (builder) => builder.register(EchoService, { ...echoService, echo: fail, count: fail as never }),
      { resilience: { circuitBreaker: breaker } },
    )
    client = new ForeignClient(EchoService, running.grpc)
  })

  after(async () => {
    client.close()
    await running.stop()
  })

  const mistakes = [new ErrNotFound(), new InvalidArgument('x', 'y'), new PermissionDenied()]
  for (const mistake of mistakes)
    it(`is not opened by ${mistake.code}`, async () => {
      thrown = mistake
      for (let n = 0; n < 5; n++)
        expect((await client.unary('Echo', {}, ALICE)).details).to.equal(mistake.wireMessage)
    })

  it('is opened by what is our fault, and returns Unavailable without the handler', async () => {
    thrown = new Unavailable('the shelf is gone')
    for (let n = 0; n < 3; n++)
      expect((await client.unary('Echo', {}, ALICE)).details).to.equal('the shelf is gone')
    runs = 0
    const open = await client.unary('Echo', {}, ALICE)
    expect([open.code, open.details, runs]).to.deep.equal([14, 'the service is recovering: retry later', 0])
  })

  it('leaves streams alone', async () => {
    thrown = new ErrNotFound()
    expect((await client.stream('Count', [{}], ALICE)).code).to.equal(5)
  })
})
