import { create } from '@bufbuild/protobuf'
import { EmptySchema } from '@bufbuild/protobuf/wkt'
import {
  type Operation,
  Operations,
  OperationSchema,
} from 'ashlar-annotations/google/longrunning/operations_pb.js'
import { expect } from 'chai'
import type { OperationWork, ServerCall } from '../../../lib/call.js'
import {
  type ClientTransport,
  createClient,
  grpcTransport,
  type OperationHandle,
  openOperation,
} from '../../../lib/client/index.js'
import { toStatus } from '../../../lib/error-details.js'
import { AshlarError } from '../../../lib/errors.js'
import { operationRules } from '../../../lib/server/operations/operations-service.js'
import { CountRequestSchema, type EchoRequest, EchoResponseSchema } from '../../support/gen/specimens_pb.js'
import { SlowEcho } from '../../support/grpc/slow-echo.js'
import { rejection } from '../../support/rejection.js'
import { ALICE, partly, type RunningServer, startServer } from '../../support/servers/server.js'

const RETRY = { kind: 'retryInfo', delayMs: 1500 } as const
const FULL = new AshlarError('FAILED_PRECONDITION', 'the shelf is full', { details: [RETRY] })
const FAILED = create(OperationSchema, {
  name: 'operations/failed',
  done: true,
  result: { case: 'error', value: toStatus(FULL) },
})

describe('operations of a client', () => {
  let running: RunningServer
  let transport: ClientTransport
  let begin: (work: OperationWork) => Promise<OperationHandle>
  before(async () => {
    let work: OperationWork
    const echo = (_request: EchoRequest, call: ServerCall) =>
      call.operations.start({ metadata: create(CountRequestSchema, { upto: 0 }) }, work)
    running = await startServer((builder) => builder.register(SlowEcho, partly(SlowEcho, { echo })))
    transport = grpcTransport(running.grpc)
    const client = createClient(SlowEcho, { transport, metadata: ALICE })
    begin = (body) => {
      work = body
      return (client as unknown as { echo: (request: object) => Promise<OperationHandle> }).echo({})
    }
  })
  after(async () => {
    transport.close()
    await running.stop()
  })
  const response = create(EchoResponseSchema, { text: 'done' })

  it('are a promise of their response', async () => {
    const operation = await begin(async () => response)
    expect(operation.name).to.match(/^operations\//)
    expect((await operation.result(EchoResponseSchema)).text).to.equal('done')
    expect(operation.latest.done).to.equal(true)
    // Once more, without a call.
    expect((await operation.result(EchoResponseSchema)).text).to.equal('done')
  })

  it('tell how far they are', async () => {
    const steps: (() => void)[] = []
    const operation = await begin(async ({ progress }) => {
      for (let upto = 1; upto <= 3; upto++) {
        await progress(create(CountRequestSchema, { upto }))
        await new Promise<void>((resolve) => steps.push(resolve))
      }
      return response
    })
    const seen: number[] = []
    for await (const { upto } of operation.progress(CountRequestSchema)) {
      seen.push(upto)
      steps.shift()?.()
    }
    expect(seen[0]).to.be.oneOf([0, 1])
    expect(seen.at(-1)).to.equal(3)
    expect(seen).to.deep.equal([...new Set(seen)].sort((a, b) => a - b))
    expect(operation.latest.done).to.equal(true)
  })

  it('fail as the server says', async () => {
    const operation = await begin(() => {
      const counted = { desc: CountRequestSchema, message: create(CountRequestSchema, { upto: 7 }) }
      throw new AshlarError('FAILED_PRECONDITION', 'the shelf is full', { details: [RETRY, counted] })
    })
    // The type of a detail is found in the file of the service, whatever the response is.
    const error = await rejection(operation.result(EmptySchema), AshlarError, 'the shelf is full')
    expect(error.code).to.equal('FAILED_PRECONDITION')
    expect(error.details).to.have.length(2)
    expect(error.details[0]).to.deep.equal(RETRY)
    expect(error.details[1]).to.have.nested.property('message.upto', 7)
    // One that is opened by its name finds them in the file of the response.
    const again = await openOperation(operation.name, { transport, metadata: ALICE })
    const same = await rejection(again.result(EchoResponseSchema), AshlarError)
    expect(same.details[1]).to.have.nested.property('message.upto', 7)
  })

  it('are cancelled, and found again by their name', async () => {
    const operation = await begin(async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      signal.throwIfAborted()
    })
    const again = await openOperation(operation.name, { transport, metadata: ALICE })
    expect(again.latest.done).to.equal(false)
    await again.cancel()
    expect(await rejection(operation.result(EmptySchema), AshlarError)).to.include({ code: 'CANCELLED' })
    await rejection(openOperation('operations/none', { transport, metadata: ALICE }), AshlarError)
  })

  it('say which type their response is, where another is asked for', async () => {
    const operation = await begin(async () => response)
    await rejection(operation.result(CountRequestSchema), TypeError, 'EchoResponse, not .*CountRequest')
  })

  describe('of a server whose operations never end', () => {
    let endless: RunningServer
    let asked: string[] = []
    let canWait = true
    const state = { name: 'operations/endless' } as Operation
    before(async () => {
      const methods = {
        getOperation: ({ name }: Operation) => (asked.push('get'), name === FAILED.name ? FAILED : state),
        waitOperation: () => {
          asked.push('wait')
          if (!canWait) throw new AshlarError('UNIMPLEMENTED', 'no waiting here')
          // At once, whatever it was asked for.
          return state
        },
      }
      endless = await startServer(
        (builder) => builder.register(Operations, partly(Operations, methods)),
        {},
        (server) => server.addRules(...operationRules),
      )
    })
    after(() => endless.stop())
    for (const [name, waits] of [
      ['returns at once', true],
      ['cannot wait', false],
    ] as const)
      it(`give up, and do not flood a server that ${name}`, async () => {
        ;[asked, canWait] = [[], waits]
        const own = grpcTransport(endless.grpc)
        const operation = await openOperation('operations/endless', { transport: own, metadata: ALICE })
        const error = await rejection(operation.result(EmptySchema, { timeoutMs: 900 }), AshlarError)
        expect(error.code).to.equal('DEADLINE_EXCEEDED')
        expect(error.message).to.equal(
          'operations/endless did not finish within 900 ms, and is still running',
        )
        expect(asked.length).to.be.within(1, 7)
        const more = asked.length - 1
        expect(asked.filter((one) => one === 'wait').length).to.equal(waits ? more : Math.min(more, 1))
        own.close()
      })

    it('fail with the details that the server tells', async () => {
      const own = grpcTransport(endless.grpc)
      const operation = await openOperation('operations/failed', { transport: own, metadata: ALICE })
      const error = await rejection(operation.result(EmptySchema), AshlarError, 'the shelf is full')
      expect(error.code).to.equal('FAILED_PRECONDITION')
      expect(error.details).to.deep.equal([RETRY])
      own.close()
    })

    it('are left when the signal aborts', async () => {
      const own = grpcTransport(endless.grpc)
      const operation = await openOperation('operations/endless', { transport: own, metadata: ALICE })
      const result = operation.result(EmptySchema, { signal: AbortSignal.timeout(50) })
      expect(await rejection(result, AshlarError)).to.include({ code: 'CANCELLED' })
      own.close()
    })
  })
})
