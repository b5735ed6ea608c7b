import { create } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { AshlarError, Unavailable } from '../../lib/errors.js'
import type { ServerCall } from '../../lib/call.js'
import { RequestContext } from '../../lib/context.js'
import { Operations } from 'ashlar-annotations/google/longrunning/operations_pb.js'
import type { IdempotencyStore } from '../../lib/server/idempotency/idempotency-store.js'
import { MemoryIdempotencyStore } from '../../lib/server/idempotency/memory-idempotency-store.js'
import { MemoryOperationStore } from '../../lib/server/operations/memory-operation-store.js'
import { idempotencyStoreOf, operationStoreOf } from '../../lib/server/unavailable-stores.js'
import { EchoResponseSchema } from '../support/gen/specimens_pb.js'
import { ForeignClient } from '../support/grpc/clients.js'
import { SlowEcho } from '../support/grpc/slow-echo.js'
import { rejection } from '../support/rejection.js'
import { ALICE, partly, post, type RunningServer, startServer } from '../support/servers/server.js'

const KEY = { tenant: 'acme', subject: 'ada', method: '/a.B/C', requestId: 'r' }
const REPLY = { type: '', message: new Uint8Array(), headers: [], trailers: [] }
const context = new RequestContext()

/** What a store may throw, or not even return a promise for. */
const FAILURES: Readonly<Record<string, () => never>> = {
  'a rejected error': () => Promise.reject(new Error('no route to the store')) as never,
  'a thrown error': () => {
    throw new TypeError('fetch failed')
  },
  'no error at all': () => {
    throw 'out of order' as unknown as Error
  },
  // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- as code in JavaScript may
  nothing: () => Promise.reject(undefined) as never,
}

/** The store, whose named methods fail. */
const broken = <S extends object>(store: S, methods: readonly string[], fail: () => never): S =>
  new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return methods.includes(String(name)) ? fail : (value.bind(target) as unknown)
    },
  })

const CLAIM = ['renew', 'complete', 'release'] as const
const OPERATIONS = ['create', 'write', 'find', 'list', 'requestCancel', 'remove'] as const

for (const [what, fail] of Object.entries(FAILURES))
  describe(`a store that throws ${what}`, () => {
    it('is Unavailable in every method of a idempotency store', async () => {
      const store = idempotencyStoreOf(broken(new MemoryIdempotencyStore(), ['claim'], fail))
      await rejection(store.claim(KEY, 'print', 1000), Unavailable)
      for (const method of CLAIM) {
        const inner = new MemoryIdempotencyStore()
        const claims: IdempotencyStore = {
          claim: async (...asked) => {
            const outcome = await inner.claim(...asked)
            return outcome.state === 'claimed'
              ? { ...outcome, claim: broken(outcome.claim, [method], fail) }
              : outcome
          },
        }
        const outcome = await idempotencyStoreOf(claims).claim(KEY, 'print', 1000)
        if (outcome.state !== 'claimed') throw new TypeError('the key is taken')
        const { claim } = outcome
        const asked = {
          renew: () => claim.renew(1000),
          complete: () => claim.complete(REPLY, context),
          release: () => claim.release(),
        }
        await rejection(asked[method](), Unavailable)
      }
    })

    it('is Unavailable in every method of a store of operations', async () => {
      const store = operationStoreOf(broken(new MemoryOperationStore(), OPERATIONS, fail))
      for (const method of OPERATIONS) {
        const ask = store[method].bind(store) as (...values: unknown[]) => Promise<unknown>
        await rejection(ask('acme', 'operations/a', {}, 1), Unavailable)
      }
    })
  })

describe('a store with transactions', () => {
  const storeWith = (transaction: NonNullable<IdempotencyStore['transaction']>) => {
    const store: IdempotencyStore = { claim: () => Promise.reject(new TypeError('not asked')), transaction }
    const { transaction: told } = idempotencyStoreOf(store)
    return (effect: () => Promise<string>) => told!(context, effect)
  }
  const lost = new Error('the connection was lost')

  it('is Unavailable where it cannot begin, or commit', async () => {
    const beginning = await rejection(
      storeWith(() => Promise.reject(lost))(() => Promise.resolve('done')),
      Unavailable,
    )
    expect(beginning.cause).to.equal(lost)
    const committing = storeWith(async (within, effect) => {
      await effect(within)
      throw lost
    })
    expect(
      (
        await rejection(
          committing(() => Promise.resolve('done')),
          Unavailable,
        )
      ).cause,
    ).to.equal(lost)
  })

  it('passes on what the call inside of it throws, also where its own rollback fails', async () => {
    const mistake = new TypeError('a mistake of the handler')
    const run = storeWith((within, effect) => effect(within))
    expect(await run(() => Promise.resolve('done'))).to.equal('done')
    expect(
      await rejection(
        run(() => Promise.reject(mistake)),
        TypeError,
      ),
    ).to.equal(mistake)
    const rollingBack = storeWith((within, effect) => effect(within).catch(() => Promise.reject(lost)))
    expect(
      await rejection(
        rollingBack(() => Promise.reject(mistake)),
        TypeError,
      ),
    ).to.equal(mistake)
  })

  it('may say more than the call inside of it', async () => {
    const known = new AshlarError('ABORTED', 'a deadlock')
    const translating = storeWith((within, effect) => effect(within).catch(() => Promise.reject(known)))
    expect(
      await rejection(
        translating(() => Promise.reject(lost)),
        AshlarError,
      ),
    ).to.equal(known)
  })
})

describe('a server whose stores are out of order', () => {
  let running: RunningServer
  let isOut = true
  const out = () => Promise.reject(new Error('no route to the store'))
  const passing = <S extends object>(store: S, methods: readonly string[]): S =>
    new Proxy(store, {
      get: (_, name) =>
        Reflect.get(
          isOut ? broken(store, methods, out as never) : broken(store, [], out as never),
          name,
        ) as unknown,
    })

  before(async () => {
    running = await startServer(
      (builder) =>
        builder.register(
          SlowEcho,
          partly(SlowEcho, {
            echo: (_request: unknown, call: ServerCall) =>
              call.operations.start({}, () => Promise.resolve(create(EchoResponseSchema))),
          }),
        ),
      {
        idempotencyStore: passing(new MemoryIdempotencyStore(), ['claim']),
        operationStore: passing(new MemoryOperationStore(), OPERATIONS),
      },
    )
  })
  after(() => running.stop())

  it('tells callers to come again, and the log why, and works when they are back', async () => {
    const [slow, operations] = [
      new ForeignClient(SlowEcho, running.grpc),
      new ForeignClient(Operations, running.grpc),
    ]
    const asked = async () => [
      (await slow.unary('Echo', {}, { ...ALICE, 'idempotency-key': 'k' })).code,
      (await fetch(`${running.http}/v1/echo`, post(ALICE))).status,
      (await operations.unary('ListOperations', {}, ALICE)).code,
    ]
    try {
      expect(await asked()).to.deep.equal([14, 503, 14])
      expect((await operations.unary('GetOperation', { name: 'operations/a' }, ALICE)).code).to.equal(14)
      const lines = running.records.filter(({ level }) => level === 'error')
      expect(lines.map(({ message }) => message)).to.deep.equal([
        'unavailable: the store of responses failed: retry later',
        'unavailable: the operation store failed: retry later',
      ])
      for (const { fields } of lines) expect(fields['err']).to.include({ message: 'no route to the store' })
      isOut = false
      expect(await asked()).to.deep.equal([0, 200, 0])
    } finally {
      slow.close()
      operations.close()
    }
  })
})
