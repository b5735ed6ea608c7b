import { create } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { connectTransport, createClient, grpcTransport } from '../../../lib/client/index.js'
import { budgetOf } from '../../../lib/client/retries/retry-budget.js'
import { pauseOf, retryPolicyOf } from '../../../lib/client/retries/retry-policy.js'
import { AshlarError, type Code, type ErrorDetail } from '../../../lib/errors.js'
import { callService } from '../../support/connect/call-service.js'
import { CallService } from '../../support/gen/calls_pb.js'
import {
  type CreateSpecimenRequest,
  CreateSpecimenRequestSchema,
  SpecimenService,
} from '../../support/gen/specimens_pb.js'
import { rejection } from '../../support/rejection.js'
import { ALICE, partly, type RunningServer, startServer } from '../../support/servers/server.js'

const QUICK = { initialPauseMs: 1, maxPauseMs: 2 }

describe('retries of a client', () => {
  let running: RunningServer
  let failures: AshlarError[] = []
  let calls = 0
  let ids: string[] = []
  const fails = () => {
    calls++
    const failure = failures.shift()
    if (failure !== undefined) throw failure
    return {}
  }
  before(async () => {
    const methods = {
      getSpecimen: fails,
      weighSpecimen: fails,
      updateSpecimen: fails,
      createSpecimen: ({ requestId }: CreateSpecimenRequest) => {
        ids.push(requestId)
        return fails()
      },
    }
    running = await startServer(
      (builder) =>
        builder
          .register(SpecimenService, partly(SpecimenService, methods))
          .register(CallService, { ...callService, call: fails, look: fails }),
      { gateway: { connect: true } },
    )
  })
  after(() => running.stop())
  const failing = (times: number, code: Code = 'UNAVAILABLE', details: readonly ErrorDetail[] = []): void => {
    failures = Array.from({ length: times }, () => new AshlarError(code, 'not now', { details }))
    calls = 0
    ids = []
  }
  const clients = () => {
    const transport = grpcTransport(running.grpc)
    const options = { transport, metadata: ALICE, retry: QUICK }
    return {
      transport,
      specimens: createClient(SpecimenService, options),
      others: createClient(CallService, options),
    }
  }

  it('repeat what reads, by its name and by idempotency_level', async () => {
    const { specimens, others, transport } = clients()
    failing(3)
    await specimens.getSpecimen({ id: 'a' })
    expect(calls).to.equal(4)
    failing(1)
    await others.look({})
    expect(calls).to.equal(2)
    transport.close()
  })

  it('repeat what reads over Connect', async () => {
    const transport = connectTransport(running.http)
    failing(2)
    await createClient(SpecimenService, { transport, metadata: ALICE, retry: QUICK }).getSpecimen({ id: 'a' })
    expect(calls).to.equal(3)
  })

  it('repeat a write with one id, which is another one for the next call', async () => {
    const { specimens, transport } = clients()
    failing(2)
    // Every attempt runs: an error is not stored under the id.
    const request = create(CreateSpecimenRequestSchema, { specimenId: 'a' })
    await specimens.createSpecimen(request)
    expect(ids).to.have.length(3)
    expect(new Set(ids).size).to.equal(1)
    expect(ids[0]).to.match(/^[0-9a-f-]{36}$/)
    expect(request.requestId).to.equal('')
    await specimens.createSpecimen(request)
    expect(new Set(ids).size).to.equal(2)
    failing(1)
    await specimens.createSpecimen({ requestId: 'my own' })
    expect(ids).to.deep.equal(['my own', 'my own'])
    transport.close()
  })

  it('do not repeat a write without an id, nor what failed for another reason', async () => {
    const { specimens, others, transport } = clients()
    for (const call of [
      () => specimens.updateSpecimen({ specimen: { id: 'a' }, updateMask: { paths: ['id'] } }),
      () => others.call({}),
    ]) {
      failing(1)
      expect(await rejection(call(), AshlarError)).to.include({ code: 'UNAVAILABLE' })
      expect(calls).to.equal(1)
    }
    for (const code of ['INTERNAL', 'ABORTED', 'UNKNOWN', 'NOT_FOUND', 'RESOURCE_EXHAUSTED'] as const) {
      failing(1, code)
      expect(await rejection(specimens.getSpecimen({ id: 'a' }), AshlarError)).to.include({ code })
      expect(calls).to.equal(1)
    }
    transport.close()
  })

  it('wait as long as the server says, and not at all where the call has less time', async () => {
    const { specimens, transport } = clients()
    failing(1, 'RESOURCE_EXHAUSTED', [{ kind: 'retryInfo', delayMs: 30 }])
    await specimens.getSpecimen({ id: 'a' })
    expect(calls).to.equal(2)
    failing(1, 'RESOURCE_EXHAUSTED', [{ kind: 'retryInfo', delayMs: 60_000 }])
    expect(await rejection(specimens.getSpecimen({ id: 'a' }), AshlarError)).to.include({
      code: 'RESOURCE_EXHAUSTED',
    })
    expect(calls).to.equal(1)
    transport.close()
  })

  it('are none where the client wants none', async () => {
    const transport = grpcTransport(running.grpc)
    const specimens = createClient(SpecimenService, { transport, metadata: ALICE, retry: false })
    failing(1)
    await rejection(specimens.getSpecimen({ id: 'a' }), AshlarError)
    expect(calls).to.equal(1)
    failing(0)
    await specimens.createSpecimen({})
    expect(ids).to.deep.equal([''])
    transport.close()
  })

  it('stop when the signal aborts in a pause', async () => {
    const transport = grpcTransport(running.grpc)
    const retry = { initialPauseMs: 60_000, maxPauseMs: 60_000 }
    const specimens = createClient(SpecimenService, {
      transport,
      metadata: ALICE,
      retry,
      timeoutMs: 1_000_000,
    })
    const controller = new AbortController()
    failing(1)
    const call = rejection(specimens.getSpecimen({ id: 'a' }, { signal: controller.signal }), AshlarError)
    while (calls === 0) await new Promise(setImmediate)
    setTimeout(() => controller.abort(), 10)
    expect(await call).to.include({ code: 'CANCELLED' })
    transport.close()
  })

  it('make no storm of a server that is down: at most a tenth more, for all clients of a transport', async () => {
    const { specimens, others, transport } = clients()
    failing(10_000)
    for (let call = 0; call < 100; call++) {
      await rejection(specimens.getSpecimen({ id: 'a' }), AshlarError)
      await rejection(others.look({}), AshlarError)
    }
    expect(calls).to.be.within(200, 220)
    // It comes back, and so do the retries.
    failing(0)
    for (let call = 0; call < 70; call++) await specimens.getSpecimen({ id: 'a' })
    failing(1)
    await specimens.getSpecimen({ id: 'a' })
    expect(calls).to.equal(2)
    transport.close()
  })

  it('come at random times, later with each attempt', () => {
    const policy = retryPolicyOf({ initialPauseMs: 100, maxPauseMs: 300 })
    const down = new AshlarError('UNAVAILABLE', 'down')
    const pauses = (attempts: number) =>
      Array.from({ length: 200 }, () => pauseOf(down, attempts, policy) as number)
    for (const [attempts, most] of [
      [1, 100],
      [2, 200],
      [3, 300],
      [40, 300],
    ] as const) {
      const all = pauses(attempts)
      expect(Math.max(...all)).to.be.within(most / 2, most)
      expect(Math.min(...all)).to.be.below(most / 2)
      expect(new Set(all).size).to.be.above(150)
    }
  })

  it('have one budget for a transport', () => {
    const transport = {}
    expect(budgetOf(transport)).to.equal(budgetOf(transport))
    expect(budgetOf(transport)).to.not.equal(budgetOf({}))
  })
})
