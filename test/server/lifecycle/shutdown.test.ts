import { expect } from 'chai'
import { once } from 'node:events'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Health } from '../../../lib/gen/grpc/health/v1/health_pb.js'
import type { ServerCall } from '../../../lib/call.js'
import { DeclarationError } from '../../../lib/errors.js'
import type { Config } from '../../../lib/server/config/config.js'
import { until } from '../../support/until.js'
import { ServerBuilder } from '../../../lib/server/server-builder.js'
import { authority } from '../../support/servers/certificates.js'
import { ForeignClient, niceClient } from '../../support/grpc/clients.js'
import { type EchoRequest, EchoService } from '../../support/gen/specimens_pb.js'
import { frameOf, RawGrpc } from '../../support/grpc/raw-grpc.js'
import { ALICE, post, type RunningServer, startServer } from '../../support/servers/server.js'
import { echoService } from '../../support/grpc/echo.js'

/** What holds a call, until a test lets it go. */
class Gate {
  entered = 0
  open: () => void = () => {}
  readonly #opened = new Promise<void>((resolve) => (this.open = resolve))

  async pass(): Promise<void> {
    this.entered++
    await this.#opened
  }

  async isEntered(count = 1): Promise<void> {
    while (this.entered < count) await pause(2)
  }
}

const start = (gate: Gate, config: Config = {}): Promise<RunningServer> =>
  startServer(
    (builder) =>
      builder.register(EchoService, {
        ...echoService,
        echo: async ({ text }: EchoRequest) => {
          await gate.pass()
          return { text }
        },
        count: async function* (_request, { signal }: ServerCall) {
          yield { text: '1' }
          await gate.pass()
          if (signal.aborted) throw signal.reason
          yield { text: '2' }
        },
        chat: async function* (requests) {
          for await (const { text } of requests) yield { text }
        },
      }),
    config,
  )

/** One request on the connection of an agent. */
const ask = async (agent: Agent, url: string, path = '/v1/ping'): Promise<IncomingMessage> => {
  const sent = httpRequest(`${url}${path}`, { agent })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
  return response
}

const isRefused = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    const [host, port] = address.replace(/^.*\//, '').split(':')
    const socket = connect({ host: host ?? '', port: Number(port) })
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', () => resolve(true))
  })

describe('a shutdown with a delay', () => {
  it('says NOT_SERVING first, and goes on serving until the delay is over', async () => {
    const running = await start(new Gate(), { shutdownDelayMs: 3_000 })
    const health = new ForeignClient(Health, running.grpc)
    const { client: watching, close } = niceClient(Health, running.grpc)
    const statuses: (number | undefined)[] = []
    let hasEnded = false
    const watched = (async () => {
      for await (const { status } of watching.watch({})) statuses.push(status)
    })()
      .catch(() => {})
      .finally(() => (hasEnded = true))
    while (statuses.length === 0) await pause(2)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    expect((await ask(agent, running.http)).headers.connection).to.equal('keep-alive')

    const stopped = running.stop()
    while (statuses.length < 2) await pause(2)
    expect([statuses, hasEnded]).to.deep.equal([[1, 2], false])
    expect((await health.unary('Check', {})).answer).to.include({ status: 'NOT_SERVING' })
    const ready = await fetch(`${running.http}/readyz`)
    expect([ready.status, await ready.text()]).to.deep.equal([
      503,
      '{"status":"unavailable","failing":["shutdown"]}',
    ])
    expect(await running.server.readiness()).to.deep.equal({
      serving: false,
      checks: [{ name: 'shutdown', ok: false }],
    })
    expect((await fetch(`${running.http}/healthz`)).status).to.equal(200)
    expect((await ask(agent, running.http)).headers.connection).to.equal('close')
    const late = new ForeignClient(EchoService, running.grpc)
    expect((await late.unary('Ping', {})).code).to.equal(0)
    expect((await fetch(`${running.http}/v1/ping`)).headers.get('connection')).to.equal('close')

    await stopped
    await watched
    expect(await isRefused(running.http)).to.equal(true)
    expect(await isRefused(running.grpc)).to.equal(true)
    close()
    for (const client of [health, late]) client.close()
    agent.destroy()
  })

  it('is not delayed by default, or when a listener could not be bound', async () => {
    const running = await start(new Gate())
    const stopped = running.stop()
    await until(() => isRefused(running.grpc))
    await stopped
    const other = await start(new Gate())
    const grpcAddr = other.grpc
    const config = { grpcAddr, shutdownDelayMs: 3_600_000, logger: { ...console, info: () => {} } }
    const failed = new ServerBuilder(config).register(EchoService, echoService).build()
    const error = await failed.serve(new AbortController().signal).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(Error)
    await other.stop()
  })

  for (const delay of [-1, Number.NaN, Number.POSITIVE_INFINITY, 3_600_001])
    it(`refuses a delay of ${delay}`, () => {
      expect(() => new ServerBuilder({ grpcAddr: ':0' }).shutdownDelayMs(delay).build()).to.throw(
        DeclarationError,
        `shutdownDelayMs is ${delay}: give milliseconds, at most 3600000`,
      )
    })
})

describe('connections at a shutdown', () => {
  it('are told Connection: close with their next response while others are served, and cut then', async () => {
    const gate = new Gate()
    const running = await start(gate)
    const idle = new Agent({ keepAlive: true, maxSockets: 1 })
    const untouched = new Agent({ keepAlive: true, maxSockets: 1 })
    await ask(idle, running.http)
    await ask(untouched, running.http)
    const [socket] = Object.values(untouched.freeSockets).flat()
    const isCut = once(socket as never, 'close')
    const pending = fetch(`${running.http}/v1/echo`, post(ALICE, { text: 'last' }))
    await gate.isEntered()
    const stopped = running.stop()
    await pause(200)
    const told = await ask(idle, running.http)
    expect([told.statusCode, told.headers.connection]).to.deep.equal([200, 'close'])
    expect(socket?.destroyed).to.equal(false)
    gate.open()
    expect(await (await pending).text()).to.include('last')
    await stopped
    await isCut
    for (const agent of [idle, untouched]) agent.destroy()
  })

  it('that are about to ask are told, without serving anybody else', async () => {
    const running = await start(new Gate())
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    await ask(agent, running.http)
    const stopped = running.stop()
    const { statusCode, headers } = await ask(agent, running.http)
    expect([statusCode, headers.connection]).to.deep.equal([200, 'close'])
    await stopped
    agent.destroy()
  })

  for (const isEncrypted of [false, true])
    it(`that never asked hold nothing up${isEncrypted ? ', over TLS' : ''}`, async () => {
      const { certificate, privateKey } = keyPair()
      const httpTls = isEncrypted ? { certificateChain: certificate, privateKey } : undefined
      const running = await start(new Gate(), httpTls === undefined ? {} : { httpTls })
      const [host = '', port] = running.server.httpAddr().split(':')
      const socket = connect({ host, port: Number(port) })
      socket.on('error', () => {})
      await once(socket, 'connect')
      const cut = once(socket, 'close')
      await running.stop()
      await cut
      expect(socket.destroyed).to.equal(true)
      // What is held up is cut after five seconds.
    })
})

const keyPair = () => {
  const { certificate, key } = authority('shutdown').issue('127.0.0.1')
  return { certificate, privateKey: key }
}

describe('calls that do not end at a shutdown', () => {
  it('get their status, streams and unary calls, over gRPC and HTTP', async () => {
    const gate = new Gate()
    const running = await start(gate)
    const client = new ForeignClient(EchoService, running.grpc)
    const raw = new RawGrpc(running.grpc)
    const chat = raw.open('Chat', ALICE)
    chat.stream.write(frameOf({ text: 'a' }))
    await once(chat.stream, 'data')
    const stuck = client.unary('Echo', {}, ALICE)
    const stream = client.stream('Count', [{}], ALICE)
    const hung = fetch(`${running.http}/v1/echo`, post(ALICE))
    const lines = fetch(`${running.http}/v1/count`, { headers: ALICE }).then((response) => response.text())
    const events = fetch(`${running.http}/v1/count`, {
      headers: { ...ALICE, accept: 'text/event-stream' },
    }).then((response) => response.text())
    await gate.isEntered(5)
    await running.stop()
    const text = 'the server is shutting down: try again'
    for (const outcome of [await stuck, await stream])
      expect([outcome.code, outcome.details]).to.deep.equal([14, text])
    const { code, text: details } = await chat.outcome
    expect([code, details]).to.deep.equal([14, text])
    const response = await hung
    expect([response.status, await response.json()]).to.deep.equal([
      503,
      { code: 14, message: text, details: [] },
    ])
    const last = (all: string) => all.trim().split('\n').at(-1) ?? ''
    expect(JSON.parse(last(await lines))).to.deep.equal({ error: { code: 14, message: text, details: [] } })
    expect(await events).to.match(/event: error\ndata: \{"code":14,/)
    const codes = running.records
      .filter(({ message }) => message === 'rpc')
      .map(({ fields }) => fields['code'])
    expect(codes).to.deep.equal(Array(6).fill('UNAVAILABLE'))
    client.close()
    raw.close()
  })

  it('get it also where their handlers heed the signal in words of Node', async () => {
    let isCalled = false
    const running = await startServer((builder) =>
      builder.register(EchoService, {
        ...echoService,
        echo: async (_request, { signal }: ServerCall) => {
          isCalled = true
          await pause(60_000, undefined, { signal })
          return { text: 'never' }
        },
      }),
    )
    const client = new ForeignClient(EchoService, running.grpc)
    const stuck = client.unary('Echo', {}, ALICE)
    await until(() => isCalled)
    await running.stop()
    expect((await stuck).code).to.equal(14)
    client.close()
  })
})
