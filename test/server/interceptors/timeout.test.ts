import { expect } from 'chai'
import { once } from 'node:events'
import { Metadata as NiceMetadata } from 'nice-grpc'
import type { ServerCall } from '../../../lib/call.js'
import { NoTimeout, type ResilienceConfig } from '../../../lib/server/config/config.js'
import { EchoService } from '../../support/gen/specimens_pb.js'
import { ForeignClient, niceClient } from '../../support/grpc/clients.js'
import { ALICE, post, type RunningServer, startServer } from '../../support/servers/server.js'
import { echoService } from '../../support/grpc/echo.js'

const ECHO = '/specimens.v1.EchoService/Echo'

describe('the time a call has', () => {
  let running: RunningServer
  let client: ForeignClient
  let handle: (call: ServerCall) => Promise<{ text: string }>

  const start = async (resilience: ResilienceConfig) => {
    running = await startServer(
      (builder) =>
        builder.register(EchoService, {
          ...echoService,
          echo: (_request, call) => handle(call),
          count: async function* (_request, call) {
            yield await handle(call)
          },
        }),
      { resilience },
    )
    client = new ForeignClient(EchoService, running.grpc)
  }

  afterEach(async () => {
    client.close()
    await running.stop()
  })

  const untilAborted = async ({ signal }: ServerCall): Promise<never> => {
    if (!signal.aborted) await once(signal, 'abort')
    throw signal.reason
  }
  const forever = () => new Promise<never>(() => {})

  for (const [name, handler] of [
    ['heeds its signal', untilAborted],
    ['ignores its signal', forever],
  ] as const)
    it(`ends in DeadlineExceeded for a handler that ${name}`, async () => {
      await start({ requestTimeoutMs: 20 })
      handle = handler
      const { code, details } = await client.unary('Echo', {}, ALICE)
      expect([code, details]).to.deep.equal([4, 'deadline exceeded'])
      const response = await fetch(`${running.http}/v1/echo`, post(ALICE))
      expect(response.status).to.equal(504)
      expect(running.records.map(({ fields }) => fields['code'])).to.deep.equal([
        'DEADLINE_EXCEEDED',
        'DEADLINE_EXCEEDED',
      ])
    })

  it('is that of the method where one is given', async () => {
    await start({ requestTimeoutMs: NoTimeout, perMethodTimeoutMs: { [ECHO]: 20 } })
    handle = forever
    expect((await client.unary('Echo', {}, ALICE)).code).to.equal(4)
  })

  it('is not bounded with NoTimeout', async () => {
    await start({ requestTimeoutMs: 20, perMethodTimeoutMs: { [ECHO]: NoTimeout } })
    handle = async ({ deadline }) => ({ text: String(deadline) })
    expect((await client.unary('Echo', {}, ALICE)).answer).to.include({ text: 'undefined' })
  })

  it('is the default of 30 seconds', async () => {
    await start({})
    const before = Date.now()
    handle = async ({ deadline }) => ({ text: String(deadline) })
    const { answer } = await client.unary('Echo', {}, ALICE)
    expect(Number(answer?.['text'])).to.be.within(before + 30_000, Date.now() + 30_000)
  })

  it("is the caller's where that is less", async () => {
    await start({ requestTimeoutMs: 60_000 })
    const deadline = Date.now() + 10_000
    handle = async (call) => ({ text: String(call.deadline) })
    const { answer } = await client.unary('Echo', {}, ALICE, { deadline })
    expect(Number(answer?.['text'])).to.be.within(deadline - 1000, Date.now() + 10_000)
  })

  it("is the server's where the caller's is more", async () => {
    await start({ requestTimeoutMs: 20 })
    handle = forever
    expect((await client.unary('Echo', {}, ALICE, { deadline: Date.now() + 60_000 })).code).to.equal(4)
  })

  it('does not bound streams', async () => {
    await start({ requestTimeoutMs: 20 })
    handle = async ({ deadline }) => ({ text: String(deadline) })
    expect((await client.stream('Count', [{}], ALICE)).answer).to.include({ text: 'undefined' })
  })

  it('ends the signal of a handler whose caller went away', async () => {
    await start({})
    const caller = new AbortController()
    let aborted = () => {}
    const seen = new Promise<void>((resolve) => (aborted = resolve))
    handle = async (call) => {
      call.signal.addEventListener('abort', () => aborted(), { once: true })
      caller.abort()
      return untilAborted(call)
    }
    const { client: nice, close } = niceClient(EchoService, running.grpc)
    const call = nice.echo({}, { metadata: NiceMetadata(ALICE), signal: caller.signal })
    expect(await call.catch((error: Error) => error.name)).to.equal('AbortError')
    await seen
    const http = new AbortController()
    handle = async (inside) => {
      http.abort()
      return untilAborted(inside)
    }
    await fetch(`${running.http}/v1/echo`, { ...post(ALICE), signal: http.signal }).catch(() => {})
    while (running.records.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(running.records.map(({ fields }) => fields['code'])).to.include('CANCELLED')
    close()
  })

  it('is over for whoever asks for the signal late', async () => {
    await start({ requestTimeoutMs: 20 })
    let late: Promise<boolean> | undefined
    handle = (call) => {
      late = once(process, 'ashlar-test-late').then(() => call.signal.aborted)
      return forever()
    }
    // Where the machine is busy the time is over before the handler is called.
    while (late === undefined) await client.unary('Echo', {}, ALICE)
    process.emit('ashlar-test-late' as never)
    expect(await late).to.equal(true)
  })
})
