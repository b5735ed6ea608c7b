import { create, fromBinary } from '@bufbuild/protobuf'
import { DurationSchema, timestampFromDate } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { EventEmitter, once } from 'node:events'
import { RequestContext } from '../../../lib/context.js'
import { AshlarError, ErrNotFound } from '../../../lib/errors.js'
import { Operations } from 'ashlar-annotations/google/longrunning/operations_pb.js'
import { devAuthorizer } from '../../../lib/server/authz/dev-authorizer.js'
import type { ServerCall, OperationWork } from '../../../lib/call.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import {
  CountRequestSchema,
  DepositSchema,
  type EchoRequest,
  EchoResponseSchema,
  PlaceSchema,
} from '../../support/gen/specimens_pb.js'
import { ALICE, ALL, partly, post, type RunningServer, startServer } from '../../support/servers/server.js'
import { HeaderSchema } from '../../support/gen/calls_pb.js'
import { memoryRepositoryOf } from '../../../lib/persistence/index.js'
import { Shelf } from '../../../examples/library/shelf.js'
import { SlowEcho } from '../../support/grpc/slow-echo.js'

const OTHER = { ...ALICE, 'account-id': 'other' }

interface Seen {
  readonly name: string
  readonly done: boolean
  readonly error?: { readonly code: number; readonly message: string } | null
  readonly response?: { readonly value: Buffer } | null
  readonly metadata?: { readonly value: Buffer } | null
}

describe('long-running operations', () => {
  let running: RunningServer
  let echo: ForeignClient
  let operations: ForeignClient
  let work: OperationWork
  const gate = new EventEmitter()

  before(async () => {
    const start = (_request: EchoRequest, call: ServerCall) =>
      call.operations.start({ metadata: create(CountRequestSchema, { upto: 0 }) }, work)
    running = await startServer((builder) => builder.register(SlowEcho, partly(SlowEcho, { echo: start })), {
      authorizer: devAuthorizer([ALL]),
    })
    echo = new ForeignClient(SlowEcho, running.grpc)
    operations = new ForeignClient(Operations, running.grpc)
  })

  after(async () => {
    echo.close()
    operations.close()
    await running.stop()
  })

  const begin = async (body: OperationWork): Promise<string> => {
    work = body
    const { answer, details } = await echo.unary('Echo', {}, ALICE)
    expect(answer, details).to.include({ done: false })
    return (answer as unknown as Seen).name
  }

  const ask = async (method: string, request: object, headers: object = ALICE): Promise<Seen> => {
    const { answer, code, details } = await operations.unary(method, request, { ...headers })
    expect(code, details).to.equal(0)
    return answer as unknown as Seen
  }
  const wait = (name: string) => ask('WaitOperation', { name, timeout: { seconds: 20 } })

  it('return their response when they are done', async () => {
    const name = await begin(async () => create(EchoResponseSchema, { text: 'done' }))
    const { done, response } = await wait(name)
    expect(name).to.match(/^operations\/[0-9a-f]{32}$/)
    expect(done).to.equal(true)
    expect(fromBinary(EchoResponseSchema, response?.value as Buffer).text).to.equal('done')
  })

  it('go on when their call has ended, as the caller, bounded by nothing of it', async () => {
    let context: RequestContext | undefined
    const name = await begin(async () => {
      await once(gate, 'open')
      context = RequestContext.current()
    })
    expect((await ask('GetOperation', { name })).done).to.equal(false)
    gate.emit('open')
    expect((await wait(name)).done).to.equal(true)
    expect(context?.principal).to.include({ subject: 'alice', tenant: 'acme' })
    expect([context?.deadline, context?.signal?.aborted]).to.deep.equal([undefined, false])
  })

  it('tell how far they are', async () => {
    const name = await begin(async ({ progress }) => {
      await progress(create(CountRequestSchema, { upto: 7 }))
      gate.emit('progressed')
      await once(gate, 'open')
    })
    let upto = 0
    while (upto === 0) {
      const { metadata } = await ask('GetOperation', { name })
      upto = fromBinary(CountRequestSchema, metadata?.value as Buffer).upto
    }
    expect(upto).to.equal(7)
    gate.emit('open')
    await wait(name)
  })

  it('return nothing that is INPUT_ONLY, at whatever depth, in response, metadata or progress', async () => {
    const place = () => create(PlaceSchema, { city: 'Bern', accessCode: '77', within: { accessCode: '78' } })
    const name = await begin(async ({ progress }) => {
      await progress(place())
      gate.emit('progressed')
      await once(gate, 'open')
      return create(DepositSchema, { id: 'd', place: place(), stops: [place()] })
    })
    const seen = (value: Buffer | undefined) => fromBinary(PlaceSchema, value as Buffer)
    for (let city = ''; city === '';) {
      const { metadata } = await ask('GetOperation', { name })
      city = seen(metadata?.value).city
      expect(Buffer.from(metadata?.value as Buffer).toString()).to.not.match(/7[78]/)
    }
    gate.emit('open')
    const { response } = await wait(name)
    expect(fromBinary(DepositSchema, response?.value as Buffer).stops[0]?.city).to.equal('Bern')
    expect(Buffer.from(response?.value as Buffer).toString()).to.not.match(/7[78]/)
  })

  const failures: readonly (readonly [string, () => unknown, object])[] = [
    ['an error for callers', () => new ErrNotFound(), { code: 5, message: 'not found' }],
    ['an error of ours', () => new Error('password=hunter2'), { code: 13, message: 'internal error' }],
    ['a message nobody knows', () => undefined, { code: 13, message: 'internal error' }],
  ]
  for (const [what, error, failure] of failures)
    it(`fail with ${what}`, async () => {
      const name = await begin(async () => {
        const thrown = error()
        if (thrown !== undefined) throw thrown
        return (
          timestampFromDate(new Date()) &&
          create(DurationSchema) &&
          ({ $typeName: 'nobody.v1.Knows' } as never)
        )
      })
      const { done, error: seen } = await wait(name)
      expect(done).to.equal(true)
      expect(seen).to.deep.include(failure)
    })

  it('stop when they are cancelled', async () => {
    const name = await begin(async ({ signal }) => {
      await once(signal, 'abort')
      throw signal.reason
    })
    await ask('CancelOperation', { name })
    expect((await wait(name)).error).to.deep.include({ code: 1, message: 'the call was cancelled' })
  })

  it('succeed when they end in spite of being cancelled', async () => {
    const name = await begin(async ({ signal }) => void (await once(signal, 'abort')))
    await ask('CancelOperation', { name })
    expect((await wait(name)).error ?? null).to.equal(null)
  })

  it('are nobody else’s: no other tenant sees, cancels, deletes or waits on them', async () => {
    const name = await begin(async () => void (await once(gate, 'open')))
    for (const method of ['GetOperation', 'CancelOperation', 'DeleteOperation', 'WaitOperation']) {
      const { code } = await operations.unary(method, { name }, OTHER)
      expect([method, code]).to.deep.equal([method, 5])
    }
    const { answer } = await operations.unary('ListOperations', {}, OTHER)
    expect(answer?.['operations']).to.deep.equal([])
    expect((await operations.unary('ListOperations', {}, { subject: 'alice' })).code).to.equal(7)
    expect((await ask('GetOperation', { name })).done).to.equal(false)
    gate.emit('open')
    await wait(name)
  })

  it('are not started by a call without a tenant', async () => {
    work = async () => {}
    expect((await echo.unary('Echo', {}, { subject: 'alice' })).code).to.equal(7)
  })

  it('are waited for no longer than asked', async () => {
    const name = await begin(async () => void (await once(gate, 'open')))
    expect((await ask('WaitOperation', { name, timeout: { nanos: 20_000_000 } })).done).to.equal(false)
    gate.emit('open')
    expect((await wait(name)).done).to.equal(true)
  })

  it('are listed in pages, and gone when deleted', async () => {
    const names = new Set<string>()
    let token = ''
    do {
      const { answer } = await operations.unary('ListOperations', { page_size: 2, page_token: token }, ALICE)
      for (const { name } of answer?.['operations'] as Seen[]) names.add(name)
      token = answer?.['next_page_token'] as string
    } while (token !== '')
    expect(names.size).to.be.greaterThan(5)
    const [first] = names
    await ask('DeleteOperation', { name: first })
    expect((await operations.unary('GetOperation', { name: first }, ALICE)).code).to.equal(5)
    expect((await operations.unary('ListOperations', { page_token: 'zzz' }, ALICE)).code).to.equal(3)
    expect((await operations.unary('ListOperations', { filter: 'x' }, ALICE)).code).to.equal(3)
  })

  it('are reached through the gateway too', async () => {
    work = async () => create(EchoResponseSchema, { text: 'over HTTP' })
    const started = await fetch(`${running.http}/v1/echo`, post(ALICE))
    const { name } = (await started.json()) as Seen
    await wait(name)
    const response = await fetch(`${running.http}/v1/${name}`, { headers: ALICE })
    expect(await response.json()).to.deep.include({
      name,
      done: true,
      response: { '@type': 'type.googleapis.com/specimens.v1.EchoResponse', text: 'over HTTP' },
    })
  })

  it('fail with details that callers can read, over the gateway too', async () => {
    const name = await begin(() => {
      const known = { desc: CountRequestSchema, message: create(CountRequestSchema, { upto: 7 }) }
      const unknown = { desc: HeaderSchema, message: create(HeaderSchema, { name: 'of another file' }) }
      const retry = { kind: 'retryInfo', delayMs: 1500 } as const
      throw new AshlarError('FAILED_PRECONDITION', 'full', { details: [retry, known, unknown] })
    })
    await wait(name)
    const response = await fetch(`${running.http}/v1/${name}`, { headers: ALICE })
    const { error } = (await response.json()) as Seen
    expect(error).to.deep.equal({
      ...{ code: 9, message: 'full' },
      details: [
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '1.500s' },
        { '@type': 'type.googleapis.com/specimens.v1.CountRequest', upto: 7, pauseMs: 0 },
      ],
    })
  })

  it('end as failed with Internal if their code wrote a mask that cannot be', async () => {
    const shelves = new (memoryRepositoryOf(Shelf))()
    const name = await begin(async () => {
      await shelves.update('missing', {}, ['teme' as never])
      return undefined
    })
    const { error } = await wait(name)
    expect(error).to.include({ code: 13 })
    expect(String(error?.message)).not.to.include('teme')
  })

  it('end as failed when the server shuts down', async () => {
    let stopped: unknown
    const own = await startServer((builder) =>
      builder.register(
        SlowEcho,
        partly(SlowEcho, {
          echo: (_request: EchoRequest, call: ServerCall) =>
            call.operations.start({}, async ({ signal }) => {
              await once(signal, 'abort')
              stopped = signal.reason
              throw signal.reason
            }),
        }),
      ),
    )
    const client = new ForeignClient(SlowEcho, own.grpc)
    expect((await client.unary('Echo', {}, ALICE)).code).to.equal(0)
    client.close()
    await own.stop()
    expect(stopped).to.have.property('wireMessage', 'the server was shut down: start it again')
  })
})
