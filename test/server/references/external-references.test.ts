import { create } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { setTimeout as pause } from 'node:timers/promises'
import { Resource } from '../../../decorators/resource.js'
import type { ServerCall } from '../../../lib/call.js'
import {
  DeclarationError,
  ErrNotFound,
  Internal,
  PermissionDenied,
  Unauthenticated,
} from '../../../lib/errors.js'
import { RequestContext } from '../../../lib/context.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { newDev } from '../../../lib/secrets/dev-encryptor.js'
import type { Config } from '../../../lib/server/config/config.js'
import type { ExternalTargetOptions } from '../../../lib/server/references/external-target.js'
import { Instrument, Maker } from '../../support/entities/instruments.js'
import { InstrumentService, UnclearInstrumentSchema } from '../../support/gen/instruments_pb.js'
import {
  type BatchGetMakersRequest,
  BatchGetMakersResponseSchema,
  MakerService,
} from '../../support/gen/makers_pb.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { freePort } from '../../support/free-port.js'
import { rejection } from '../../support/rejection.js'
import { authority } from '../../support/servers/certificates.js'
import { ALICE, partly, type RunningServer, startServer } from '../../support/servers/server.js'
import { until } from '../../support/until.js'
import { listenersOf } from '../validation/calls.js'

const TYPE = 'makers.example.com/Maker'

interface Seen {
  readonly ids: readonly string[]
  readonly paths: readonly string[] | undefined
  readonly call: ServerCall
}

/** A second server, whose BatchGet does what a test says. */
async function startMakers(
  respond: (request: BatchGetMakersRequest, call: ServerCall) => unknown = everyMaker,
  config: Config = {},
) {
  const seen: Seen[] = []
  const batchGetMakers = (request: BatchGetMakersRequest, call: ServerCall) => {
    seen.push({ ids: request.ids, paths: request.readMask?.paths, call })
    return respond(request, call)
  }
  const running = await startServer(
    (builder) => builder.register(MakerService, partly(MakerService, { batchGetMakers })),
    { httpAddr: '', ...config },
  )
  return { ...running, seen }
}

const everyMaker = ({ ids }: BatchGetMakersRequest) =>
  create(BatchGetMakersResponseSchema, {
    makers: ids.map((id) => ({
      id,
      title: `Maker ${id}`,
      country: 'it',
      pin: 'swordfish',
      remark: 'swordfish',
    })),
  })

interface Served extends RunningServer {
  readonly client: ForeignClient
  list(mask: string, headers?: object): Promise<Shown[][]>
  stopAll(): Promise<void>
}

interface Shown {
  readonly id: string
  readonly maker?: Readonly<Record<string, string>> | null
  readonly repairer?: Readonly<Record<string, string>> | null
}

/** The server of instruments, of the tenant `acme`: as many as the pairs of references. */
async function startInstruments(
  address: string | undefined,
  references: readonly (readonly [maker: string, repairer?: string])[],
  options?: ExternalTargetOptions,
  config: Config = {},
): Promise<Served> {
  const repository = new MemoryRepository(Instrument)
  await RequestContext.as({ tenant: 'acme', subject: 'ada' }, async () => {
    for (const [i, [makerId, repairerId = '']] of references.entries())
      await repository.create({ id: `i${String(i).padStart(4, '0')}`, title: 'Lute', makerId, repairerId })
  })
  const running = await startServer(
    (builder) => builder.register(InstrumentService, repository),
    config,
    (server) => server.recordExternalReferenceTarget(TYPE, address, options),
  )
  expect(running.server.references()).to.deep.equal([
    { field: 'instruments.v1.Instrument.maker_id', target: TYPE },
    { field: 'instruments.v1.Instrument.repairer_id', target: TYPE },
  ])
  const client = new ForeignClient(InstrumentService, running.grpc)
  const listeners = listenersOf(client, running.http, {
    ListInstruments: ({ read_mask: mask, page_size: size }) => {
      const { paths } = mask as { paths: string[] }
      return ['GET', `/v1/instruments?page_size=${String(size)}&read_mask=${paths.join(',')}`, undefined]
    },
  })
  return {
    ...running,
    client,
    list: async (mask, headers = {}) => {
      const all: Shown[][] = []
      for (const { name, call } of listeners) {
        const request = { page_size: 1000, read_mask: { paths: mask.split(',') } }
        const { code, message, answer } = await call('ListInstruments', request, headers)
        if (code !== 0) throw new Error(`${name}: ${code} ${message}`)
        all.push(answer['instruments'] as Shown[])
      }
      return all
    },
    stopAll: async () => {
      client.close()
      await running.stop()
    },
  }
}

describe('references to what another process serves', () => {
  const opened: { stop(): Promise<void> }[] = []
  const open = <T extends { stop(): Promise<void> }>(server: T): T => {
    opened.push(server)
    return server
  }
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.stop()
  })
  const instruments = async (...given: Parameters<typeof startInstruments>) => {
    const served = await startInstruments(...given)
    opened.push({ stop: served.stopAll })
    return served
  }

  it('are read with one call for a page, whatever fields show the type', async () => {
    const makers = open(await startMakers())
    const pairs = Array.from({ length: 50 }, (_, i) => [`m${i % 7}`, `m${i % 5}`] as const)
    const served = await instruments(makers.grpc, pairs)
    for (const page of await served.list('id,maker.title,repairer.country')) {
      expect(page).to.have.length(50)
      expect(page[8]).to.deep.include({ id: 'i0008' })
      expect(page[8]?.maker).to.include({ title: 'Maker m1' })
      expect(page[8]?.repairer).to.include({ country: 'it' })
      expect(page[8]?.maker?.['country'] ?? '').to.equal('')
    }
    expect(makers.seen).to.have.length(2)
    expect([...(makers.seen[0]?.ids ?? [])].sort()).to.deep.equal(['m0', 'm1', 'm2', 'm3', 'm4', 'm5', 'm6'])
    expect(makers.seen[0]?.paths).to.deep.equal(['id', 'title', 'country'])
  })

  it('are not read where nobody asks, and neither is an empty one', async () => {
    const makers = open(await startMakers())
    const served = await instruments(makers.grpc, [['m1'], ['']])
    await served.list('id,maker_id')
    await served.list('*')
    expect(makers.seen).to.deep.equal([])
    for (const page of await served.list('*,maker.title'))
      expect(page[0])
        .to.deep.include({ id: 'i0000', title: 'Lute' })
        .and.to.have.nested.property('maker.title', 'Maker m1')
    expect(makers.seen.splice(0)).to.have.length(2)
    expect((await served.client.unary('GetInstrument', { id: 'i0000' }, ALICE)).answer?.['maker']).to.equal(
      null,
    )
    const empty = { id: 'i0001', read_mask: { paths: ['id', 'maker'] } }
    expect((await served.client.unary('GetInstrument', empty, ALICE)).answer).to.include({
      id: 'i0001',
      maker: null,
    })
    expect(makers.seen).to.deep.equal([])
    const one = { id: 'i0000', read_mask: { paths: ['maker'] } }
    expect((await served.client.unary('GetInstrument', one, ALICE)).answer?.['maker']).to.include({
      id: 'm1',
    })
  })

  it('of another tenant, and those that are not there, are absent beside the others', async () => {
    const repository = new MemoryRepository(Maker, { encryptor: newDev(Buffer.alloc(32, 7)) })
    const of = (tenant: string, ids: string[]) =>
      RequestContext.as({ tenant, subject: 'ada' }, async () => {
        for (const id of ids) await repository.create({ id, title: tenant, country: 'it', remark: '' })
      })
    await of('acme', ['a1', 'a2', 'both'])
    await of('other', ['o1', 'both'])
    const makers = open(
      await startServer((builder) => void builder.register(MakerService, repository), { httpAddr: '' }),
    )
    const served = await instruments(makers.grpc, [
      ['a1', 'o1'],
      ['gone', 'a2'],
      ['both', "a' OR '1"],
      ['o1', '\t'],
    ])
    for (const page of await served.list('id,maker.title,repairer.title'))
      expect(page.map(({ maker, repairer }) => [maker?.['title'], repairer?.['title']])).to.deep.equal([
        ['acme', undefined],
        [undefined, 'acme'],
        ['acme', undefined],
        [undefined, undefined],
      ])
  })

  for (const [what, error] of [
    ['denies', new PermissionDenied()],
    ['does not know the caller', new Unauthenticated()],
  ] as const)
    it(`are absent where the target ${what}`, async () => {
      const makers = open(await startMakers(() => Promise.reject(error)))
      const served = await instruments(makers.grpc, [['m1'], ['m2']])
      for (const page of await served.list('id,maker'))
        expect(page.map(({ maker }) => maker ?? undefined)).to.deep.equal([undefined, undefined])
      expect(makers.seen).to.have.length(2)
    })

  it('end in Unavailable where the target does not respond, or fails', async () => {
    const failing = open(await startMakers(() => Promise.reject(new Internal(new TypeError('secret-cause')))))
    for (const address of [`127.0.0.1:${await freePort()}`, failing.grpc]) {
      const served = await instruments(address, [['m1']])
      const get = { id: 'i0000', read_mask: { paths: ['maker'] } }
      const { code, details } = await served.client.unary('GetInstrument', get, ALICE)
      expect([code, details]).to.deep.equal([14, `${TYPE} cannot be read at the moment: retry later`])
      const response = await fetch(`${served.http}/v1/instruments/i0000?read_mask=maker`, { headers: ALICE })
      expect(response.status).to.equal(503)
      expect(await response.text()).to.not.contain(address)
      expect((await served.client.unary('GetInstrument', { id: 'i0000' }, ALICE)).code).to.equal(0)
    }
  })

  it('have the time of the call, and end with it', async () => {
    const ended: unknown[] = []
    const makers = open(
      await startMakers(async (_, { signal }) => {
        await pause(10_000, undefined, { signal }).catch(() => ended.push(signal.aborted))
        throw new ErrNotFound()
      }),
    )
    const served = await instruments(makers.grpc, [['m1']])
    const get = { id: 'i0000', read_mask: { paths: ['maker'] } }
    const began = Date.now()
    // Where the machine is busy the time is over before the call has come to the target.
    while (makers.seen.length === 0) {
      const deadline = Date.now() + 400
      const { code } = await served.client.unary('GetInstrument', get, ALICE, { deadline })
      expect(code).to.equal(4)
    }
    expect(makers.seen[0]?.call.deadline).to.be.within(began, Date.now() + 400)
    const aborting = new AbortController()
    const cut = fetch(`${served.http}/v1/instruments/i0000?read_mask=maker`, {
      headers: ALICE,
      signal: aborting.signal,
    })
    await until(() => makers.seen.length === 2)
    aborting.abort()
    await rejection(cut, Error)
    await until(() => ended.length === 2)
    expect(ended).to.deep.equal([true, true])
  })

  it('get what the target is to know of the caller, and nothing else', async () => {
    const makers = open(await startMakers())
    const served = await instruments(makers.grpc, [['m1']], { metadata: ['x-api-key'] })
    const sent = {
      authorization: 'Bearer abc',
      'x-api-key': 'key',
      'x-other': 'no',
      'x-request-id': 'r-1',
      cookie: 'no',
    }
    await served.list('maker', sent)
    for (const { call } of makers.seen) {
      expect(call.requestId).to.equal('r-1')
      expect(call.principal).to.include({ tenant: 'acme', subject: 'alice' })
      const names = ['authorization', 'x-api-key', 'x-other', 'cookie']
      const viaGrpc = call === makers.seen[0]?.call
      expect(names.map((name) => call.metadata.get(name))).to.deep.equal([
        'Bearer abc',
        viaGrpc ? 'key' : undefined, // The gateway takes it where `forwardHeaders` says so.
        undefined,
        undefined,
      ])
    }
    expect(makers.seen).to.have.length(2)
  })

  it('send the headers that say who calls to no target where an authenticator decides', async () => {
    const makers = open(await startMakers())
    const principal = { subject: 'ada', tenant: 'acme', groups: [], scopes: [] }
    const served = await instruments(
      makers.grpc,
      [['m1']],
      {},
      {
        authenticator: { authenticate: () => Promise.resolve(principal) },
        principalFunc: ({ verified }) => verified ?? { ...principal, tenant: '' },
      },
    )
    const request = { id: 'i0000', read_mask: { paths: ['maker'] } }
    const headers = { authorization: 'Bearer abc', ...ALICE }
    expect((await served.client.unary('GetInstrument', request, headers)).answer?.['maker']).to.equal(null)
    expect(makers.seen).to.deep.equal([])
    expect(makers.records.filter(({ fields }) => fields['tenant'] === 'acme')).to.deep.equal([])
  })

  it('take of a target only what was asked for, and no secret', async () => {
    const makers = open(
      await startMakers((request) => {
        const { makers: all } = everyMaker(request)
        const other = { id: 'not-asked', title: 'no' }
        const again = { id: request.ids[0] as string, title: 'a second one' }
        return { makers: [other, ...all, again] }
      }),
    )
    const served = await instruments(makers.grpc, [['m1'], ['m2']])
    for (const page of await served.list('id,maker')) {
      expect(page.map(({ maker }) => maker?.['title'])).to.deep.equal(['Maker m1', 'Maker m2'])
      expect(JSON.stringify(page)).to.not.contain('swordfish')
    }
  })

  it('are asked for in as many calls as the target needs', async () => {
    const makers = open(await startMakers())
    const served = await instruments(
      makers.grpc,
      Array.from({ length: 25 }, (_, i) => [`m${i}`] as const),
      { batchSize: 10 },
    )
    const [page] = await served.list('id,maker.title')
    expect(page?.every(({ maker }, i) => maker?.['title'] === `Maker m${i}`)).to.equal(true)
    expect(makers.seen.slice(0, 3).map(({ ids }) => ids.length)).to.have.members([10, 10, 5])
  })

  it('that lead nowhere are bounded', async () => {
    const makers = open(await startMakers(() => Promise.reject(new ErrNotFound())))
    const few = await instruments(
      makers.grpc,
      Array.from({ length: 128 }, (_, i) => [`m${i}`] as const),
    )
    for (const page of await few.list('id,maker')) expect(page.every(({ maker }) => !maker)).to.equal(true)
    expect(makers.seen.length).to.equal(2 * 255)
    const many = await instruments(
      makers.grpc,
      Array.from({ length: 500 }, (_, i) => [`m${i}`] as const),
    )
    await rejection(
      many.list('id,maker'),
      Error,
      /^gRPC: 8 too many resources on this page refer to a missing makers/,
    )
  })

  it('are read over TLS, and only from who has the certificate of the address', async () => {
    const trusted = authority('Makers')
    const { certificate: certificateChain, key: privateKey } = trusted.issue('localhost')
    const makers = open(await startMakers(everyMaker, { tls: { certificateChain, privateKey } }))
    const address = makers.grpc.replace('127.0.0.1', 'localhost')
    const trusting = await instruments(address, [['m1']], { tls: { ca: trusted.certificate } })
    const [page] = await trusting.list('maker')
    expect(page?.[0]?.maker).to.include({ id: 'm1' })
    for (const options of [{ tls: true }, { tls: false }, {}]) {
      const other = await instruments(address, [['m1']], options)
      await rejection(other.list('maker'), Error, /^gRPC: 14 /)
    }
    expect(makers.seen).to.have.length(2)
  })

  it('that nobody serves are logged, a line for each type, and the server starts', async () => {
    const field = 'instruments.v1.Instrument.maker_id'
    const { records, stop } = await startServer(
      (builder) => void builder.register(MakerService, partly(MakerService, {})),
      { httpAddr: '' },
      (server) => {
        server.recordReferences({ field, target: 'a/B' }, { field: 'c.D.e', target: 'a/B' })
        server.recordReferences({ field, target: TYPE })
      },
    )
    await stop()
    expect(records.filter(({ level }) => level === 'warn')).to.deep.equal([
      {
        level: 'warn',
        fields: { target: 'a/B', fields: [field, 'c.D.e'] },
        message: 'fields refer to a/B, which no registered service returns in batches: they are not resolved',
      },
    ])
  })

  describe('stop the start', () => {
    const refused = async (work: Promise<unknown>, text: string | RegExp) => {
      const error = await rejection(work, DeclarationError)
      expect(error.message).to.match(text instanceof RegExp ? text : new RegExp(text.replaceAll('.', '\\.')))
    }

    it('when a field is to show them, and nothing reads it', async () => {
      const text =
        /instruments\.v1\.Instrument\.maker shows a makers\.example\.com\/Maker, but nothing reads it: declare the relation in the entity, or call recordExternalReferenceTarget\('makers\.example\.com\/Maker', address\)/
      await refused(startInstruments(undefined, []), text)
      await refused(
        startServer((builder) =>
          builder
            .register(MakerService, new MemoryRepository(Maker, { encryptor: newDev(Buffer.alloc(32, 7)) }))
            .register(InstrumentService, new MemoryRepository(Instrument)),
        ),
        text,
      )
    })

    it('when a field could show one or the other', () => {
      @Resource({ shared: true, message: UnclearInstrumentSchema })
      @Entity('unclear')
      class Unclear {
        @PrimaryColumn() id!: string
        @Column() builder!: string
        @Column() tuner!: string
      }
      expect(() => resourceModel(Unclear)).to.throw(
        DeclarationError,
        'maker of instruments.v1.UnclearInstrument shows a makers.example.com/Maker, to which builder and tuner refer: name it after one of them, which is then maker_id',
      )
    })

    const options: readonly (readonly [ExternalTargetOptions, RegExp])[] = [
      [{ batchSize: 0 }, /batchSize of the external reference target .* is 0 but must be 1 to 1000/],
      [{ metadata: ['X-Key'] }, /metadata of the external reference target .* contains "X-Key": write/],
      [{ metadata: ['grpc-timeout'] }, /contains "grpc-timeout"/],
      [{ tls: { certificateChain: 'no' } }, /tls of the external reference target .* is not PEM/],
      [
        { service: InstrumentService },
        /whose service has no BatchGet of makers\.v1\.Maker with ids or names/,
      ],
    ]
    for (const [given, text] of options)
      it(`when ${JSON.stringify(Object.keys(given))} cannot be carried out`, () =>
        refused(startInstruments('127.0.0.1:1', [], given), text))
  })
})
