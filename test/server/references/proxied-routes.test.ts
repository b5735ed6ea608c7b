import { expect } from 'chai'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { WidgetService } from '../../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../../examples/widgets/widget.js'
import type { ServerCall } from '../../../lib/call.js'
import { DeclarationError, Internal, Unauthenticated } from '../../../lib/errors.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { newDev } from '../../../lib/secrets/dev-encryptor.js'
import { verifiedPrincipal } from '../../../lib/server/config/verified-principal.js'
import type { Config } from '../../../lib/server/config/config.js'
import type { ExternalTargetOptions } from '../../../lib/server/references/external-target.js'
import { Maker } from '../../support/entities/instruments.js'
import { freePort } from '../../support/free-port.js'
import { MakerService } from '../../support/gen/makers_pb.js'
import { EchoService, NoteService } from '../../support/gen/specimens_pb.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { echoService } from '../../support/grpc/echo.js'
import { rejection } from '../../support/rejection.js'
import { ALICE, partly, post, type RunningServer, startServer } from '../../support/servers/server.js'
import { until } from '../../support/until.js'

type Json = Readonly<Record<string, unknown>>

/** Both servers verify tokens, such as `acme`, which is the tenant. */
const VERIFYING: Config = {
  authenticator: {
    authenticate: (token) => {
      if (token === 'bad') throw new Unauthenticated()
      return Promise.resolve({ subject: 'ada', tenant: token, groups: [], scopes: [] })
    },
  },
  principalFunc: verifiedPrincipal,
}

describe('routes of services of another process', () => {
  const opened: RunningServer[] = []
  const open = (server: RunningServer): RunningServer => {
    opened.push(server)
    return server
  }
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.stop()
  })

  /** The other process: widgets of a repository, and an echo. */
  const startTarget = async (echo: Readonly<Record<string, unknown>> = echoService, config: Config = {}) =>
    open(
      await startServer(
        (builder) =>
          builder
            .register(WidgetService, new MemoryRepository(Widget), {
              retireWidget: () => Promise.reject(new Internal(new TypeError('secret-cause'))),
            })
            .register(EchoService, partly(EchoService, echo)),
        { httpAddr: '', ...config },
      ),
    )

  const startGateway = async (
    address: string | undefined,
    options: ExternalTargetOptions = { proxy: [WidgetService, EchoService] },
    config: Config = {},
  ) =>
    open(
      await startServer(
        (builder) =>
          builder.register(
            MakerService,
            new MemoryRepository(Maker, { encryptor: newDev(Buffer.alloc(32, 7)) }),
          ),
        config,
        (server) => server.recordExternalReferenceTarget('widgets.example.com/Widget', address, options),
      ),
    )

  const bodyOf = async (response: Response): Promise<Json> => (await response.json()) as Json

  it('are served: requests, responses, etags and errors are those of the target', async () => {
    const target = await startTarget()
    const { http } = await startGateway(target.grpc)
    const created = await fetch(`${http}/v1/widgets`, post(ALICE, { displayName: 'Anvil', size: 7 }))
    expect(created.status).to.equal(200)
    const { id, etag } = (await bodyOf(created)) as { id: string; etag: string }
    expect(created.headers.get('etag')).to.equal(`"${etag}"`)
    const read = await fetch(`${http}/v1/widgets/${id}`, { headers: { ...ALICE, 'x-request-id': 'r-1' } })
    expect(await bodyOf(read)).to.include({ id, displayName: 'Anvil', accountId: 'acme' })
    expect(read.headers.get('x-request-id')).to.equal('r-1')
    const known = await fetch(`${http}/v1/widgets/${id}`, {
      headers: { ...ALICE, 'if-none-match': `"${etag}"` },
    })
    expect(known.status).to.equal(304)
    const url = `${http}/v1/widgets/${id}?update_mask=size`
    const stale = await fetch(url, post({ ...ALICE, 'if-match': '"old"' }, { size: 8 }, 'PATCH'))
    expect(stale.status).to.equal(412)
    const changed = await fetch(url, post({ ...ALICE, 'if-match': `"${etag}"` }, { size: 8 }, 'PATCH'))
    expect(await bodyOf(changed)).to.include({ size: 8 })
    const wrong = await fetch(`${http}/v1/widgets?filter=nosuch%20%3D%201`, { headers: ALICE })
    expect(wrong.status).to.equal(400)
    expect(JSON.stringify(await bodyOf(wrong))).to.contain('"field":"filter"')
    const foreign = await fetch(`${http}/v1/widgets/${id}`, { headers: { ...ALICE, 'account-id': 'other' } })
    expect(foreign.status).to.equal(404)
    expect((await fetch(`${http}/v1/widgets/${id}`)).status).to.equal(403)
    expect((await fetch(`${http}/v1/makers/nosuch`, { headers: ALICE })).status).to.equal(404)
  })

  it('are of HTTP alone: gRPC of this server has the services of this server', async () => {
    const { grpc } = await startGateway((await startTarget()).grpc)
    const client = new ForeignClient(EchoService, grpc)
    expect((await client.unary('Ping', {}, ALICE)).code).to.equal(12)
    client.close()
  })

  it('get the token, and no header that says who calls where tokens are verified', async () => {
    const seen: ServerCall[] = []
    const echo = (_request: unknown, call: ServerCall) => {
      seen.push(call)
      return {}
    }
    const target = await startTarget({ echo }, VERIFYING)
    const options = { proxy: [EchoService], metadata: ['x-api-key', 'account-id'] }
    const { http } = await startGateway(target.grpc, options, {
      ...VERIFYING,
      gateway: { forwardHeaders: ['x-api-key', 'x-other'] },
    })
    const sent = { ...ALICE, 'account-id': 'victim', 'x-api-key': 'key', 'x-other': 'no', cookie: 'no' }
    const ask = (authorization: string) =>
      fetch(`${http}/v1/echo`, post({ ...sent, authorization }, { text: 'a' }))
    expect((await ask('Bearer acme')).status).to.equal(200)
    expect(seen[0]?.principal).to.include({ tenant: 'acme', subject: 'ada' })
    expect([...(seen[0]?.metadata.all.keys() ?? [])])
      .to.include('x-api-key')
      .and.to.not.include('x-other')
    for (const [name] of seen[0]?.metadata.entries() ?? [])
      expect(['account-id', 'subject', 'groups', 'cookie']).to.not.include(name)
    const refused = await ask('Bearer bad')
    expect(refused.status).to.equal(401)
    expect(refused.headers.get('www-authenticate')).to.contain('Bearer')
    expect(seen).to.have.length(1)
  })

  it('stream responses, and their errors', async () => {
    const count = async function* ({ upto }: { upto: number }) {
      yield* echoService.count({ upto })
      if (upto === 2) throw new Unauthenticated('no more')
    }
    const { http } = await startGateway((await startTarget({ count })).grpc)
    const read = async (upto: number) =>
      (await (await fetch(`${http}/v1/count?upto=${upto}`, { headers: ALICE })).text()).trim().split('\n')
    expect(
      (await read(3)).map((line) => (JSON.parse(line) as { result: Json }).result['text']),
    ).to.deep.equal(['1', '2', '3'])
    expect((await read(2)).at(-1))
      .to.contain('"error"')
      .and.to.contain('no more')
  })

  it('are Unavailable while the target is down, and say nothing of it', async () => {
    const address = `127.0.0.1:${await freePort()}`
    const { http, records } = await startGateway(address)
    const response = await fetch(`${http}/v1/ping`, { headers: ALICE })
    expect(response.status).to.equal(503)
    expect(await response.text()).to.not.contain(address)
    expect(records.filter(({ message }) => message === 'proxied rpc')).to.have.length(1)
  })

  it('tell nothing of what failed inside of the target', async () => {
    const { http } = await startGateway((await startTarget()).grpc)
    const response = await fetch(`${http}/v1/widgets/a:retire`, post(ALICE))
    expect(response.status).to.equal(500)
    expect(await response.text()).to.not.contain('secret-cause')
  })

  it('have more time than a timer can wait, where the caller gives them that', async () => {
    const echo = async () => {
      await pause(5)
      return { text: 'done' }
    }
    const { http } = await startGateway((await startTarget({ echo })).grpc, undefined, {
      resilience: { requestTimeoutMs: 2 ** 33 },
    })
    for (const timeout of ['99999999u', '99999999m', '2147484S', '99999999H'])
      expect((await fetch(`${http}/v1/echo`, post({ ...ALICE, 'grpc-timeout': timeout }))).status).to.equal(
        200,
      )
  })

  it('have the time of the call, and end with it', async () => {
    const ended: unknown[] = []
    let begun = 0
    const echo = async (_request: unknown, { signal }: ServerCall) => {
      begun++
      await pause(20_000, undefined, { signal }).catch(() => ended.push(signal.aborted))
      return {}
    }
    const { http } = await startGateway((await startTarget({ echo })).grpc)
    // Where the machine is busy the time is over before the call has come to the target.
    while (begun === 0) {
      const slow = await fetch(`${http}/v1/echo`, post({ ...ALICE, 'grpc-timeout': '300m' }))
      expect(slow.status).to.equal(504)
    }
    const aborting = new AbortController()
    const cut = fetch(`${http}/v1/echo`, { ...post(ALICE), signal: aborting.signal })
    await until(() => begun === 2)
    aborting.abort()
    await rejection(cut, Error)
    await until(() => ended.length === 2)
    expect(ended).to.deep.equal([true, true])
  })

  it('refuse mask paths that the target would not know', async () => {
    const { http } = await startGateway((await startTarget()).grpc)
    const response = await fetch(`${http}/v1/widgets/a?update_mask=displayName`, post(ALICE, {}, 'PATCH'))
    expect(response.status).to.equal(400)
    expect(JSON.stringify(await bodyOf(response))).to.contain('"field":"update_mask"')
  })

  it('refuse a caller that identifies itself twice', async () => {
    const { http } = await startGateway((await startTarget()).grpc)
    const asked = get(`${http}/v1/ping`, { headers: { ...ALICE, 'account-id': ['acme', 'other'] } })
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    response.resume()
    expect(response.statusCode).to.equal(400)
  })

  describe('stop the start', () => {
    const cases: readonly (readonly [string, ExternalTargetOptions, string | undefined, Config, RegExp])[] = [
      ['without an address', { proxy: [EchoService] }, undefined, {}, /EchoService, and has no address/],
      [
        'without a gateway',
        { proxy: [EchoService] },
        '127.0.0.1:1',
        { httpAddr: '' },
        /EchoService, and there is no gateway/,
      ],
      [
        'that are served here',
        { proxy: [MakerService] },
        '127.0.0.1:1',
        {},
        /MakerService, which this server serves/,
      ],
      [
        'that are named twice',
        { proxy: [EchoService, EchoService] },
        '127.0.0.1:1',
        {},
        /EchoService, which widgets\.example\.com\/Widget names as well/,
      ],
      [
        'of a service without any',
        { proxy: [{ ...NoteService, methods: [] } as never] },
        '127.0.0.1:1',
        {},
        /none of whose methods has google\.api\.http/,
      ],
    ]
    for (const [name, options, address, config, text] of cases)
      it(name, async () => {
        expect((await rejection(startGateway(address, options, config), DeclarationError)).message).to.match(
          text,
        )
      })
  })
})
