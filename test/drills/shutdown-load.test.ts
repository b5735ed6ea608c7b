import { expect } from 'chai'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request as httpRequest } from 'node:http'
import { fileURLToPath } from 'node:url'
import { Health } from '../../lib/gen/grpc/health/v1/health_pb.js'
import { ForeignClient, niceClient } from '../support/grpc/clients.js'
import { drill } from '../support/drill.js'
import { EchoService } from '../support/gen/specimens_pb.js'
import { ALICE } from '../support/servers/server.js'

/** Loops on each listener, each with one call under way; every third gRPC loop reads streams. */
const LOOPS = drill(12, 120)
/** Calls that are under way or answered when the server is told to stop. */
const ENOUGH = drill(60, 2_000)

interface Said {
  readonly count?: number
  readonly taken?: readonly string[]
}

interface Host {
  readonly process: ChildProcess
  readonly grpc: string
  readonly port: number
  /** How the process ended. */
  readonly ended: Promise<number | null>
  readonly takes: (count: number) => Promise<void>
  /** Names of the calls that reached a handler. */
  readonly taken: Promise<readonly string[]>
}

async function startHost(): Promise<Host> {
  const child = fork(fileURLToPath(new URL('hosts/shutdown-load.js', import.meta.url)))
  const [{ grpc, http }] = (await once(child, 'message')) as [{ grpc: string; http: string }]
  const heard = (wanted: (said: Said) => boolean) =>
    new Promise<Said>((resolve) => {
      const listen = (said: Said) => {
        if (!wanted(said)) return
        child.off('message', listen)
        resolve(said)
      }
      child.on('message', listen)
    })
  return {
    process: child,
    grpc,
    port: Number(http.split(':').at(-1)),
    ended: once(child, 'exit').then(([code]) => code as number | null),
    takes: async (count) => void (await heard((said) => (said.count ?? 0) >= count)),
    taken: heard((said) => said.taken !== undefined).then(({ taken = [] }) => taken),
  }
}

/** What came of a call: its name, and why it failed if it did. */
interface Outcome {
  readonly name: string
  readonly failure: string | undefined
}

type Call = (name: string, durationMs: number) => Promise<Outcome>

const overGrpc =
  (client: ForeignClient): Call =>
  async (name, durationMs) => {
    const { code, details, answer } = await client.unary('Echo', { text: name, number: durationMs }, ALICE)
    return { name, failure: code === 0 && answer?.['text'] === name ? undefined : `${code} ${details}` }
  }

const asStream =
  (client: ForeignClient): Call =>
  async (name, durationMs) => {
    const request = { upto: 3, pause_ms: Math.floor(durationMs / 3) }
    const { code, details, answers } = await client.stream('Count', [request], { ...ALICE, subject: name })
    return { name, failure: code === 0 && answers.length === 3 ? undefined : `${code} ${details}` }
  }

const overHttp =
  (agent: Agent, port: number): Call =>
  (name, durationMs) =>
    new Promise((resolve) => {
      const headers = { ...ALICE, 'content-type': 'application/json' }
      const options = { agent, host: '127.0.0.1', port, method: 'POST', path: '/v1/echo', headers }
      const sent = httpRequest(options, (response) => {
        let body = ''
        response.on('data', (chunk: Buffer) => (body += chunk.toString()))
        response.on('error', (error) => resolve({ name, failure: error.message }))
        response.on('end', () =>
          resolve({
            name,
            failure:
              response.statusCode === 200 && body.includes(name)
                ? undefined
                : `${response.statusCode} ${body}`,
          }),
        )
      })
      sent.on('error', (error) => resolve({ name, failure: error.message }))
      sent.end(JSON.stringify({ text: name, number: durationMs }))
    })

/**
 * Calls until one is refused. Durations go evenly through 0 to 3 seconds, each loop in an order of its own.
 */
async function loop(call: Call, loopName: string, offset: number): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (let n = 0; ; n++) {
    const outcome = await call(`${loopName}-${n}`, ((n * 7 + offset * 13) % 31) * 100)
    outcomes.push(outcome)
    if (outcome.failure !== undefined) return outcomes
  }
}

describe('shutdown under load', function () {
  it('finishes every call that was taken, says so to health first, refuses what comes later, and ends', async () => {
    const host = await startHost()
    const clients = Array.from({ length: 4 }, () => new ForeignClient(EchoService, host.grpc))
    const agent = new Agent({ keepAlive: true })
    const enough = host.takes(ENOUGH)
    let pending = 0
    const counted =
      (call: Call): Call =>
      async (name, durationMs) => {
        pending++
        return call(name, durationMs).finally(() => pending--)
      }
    const loops = Array.from({ length: LOOPS }, (_, n) => {
      const client = clients[n % clients.length] as ForeignClient
      return [
        loop(counted(n % 3 === 0 ? asStream(client) : overGrpc(client)), `grpc-${n}`, n),
        loop(counted(overHttp(agent, host.port)), `http-${n}`, n + LOOPS),
      ]
    }).flat()

    const { client: health, close } = niceClient(Health, host.grpc)
    const statuses: [number, boolean][] = []
    const watched = (async () => {
      for await (const { status = 0 } of health.watch({})) statuses.push([status, pending > 0])
    })()

    await enough
    host.process.send('stop')
    const outcomes = (await Promise.all(loops)).flat()
    await watched.catch(() => {})
    close()

    const answered = new Set(outcomes.filter(({ failure }) => failure === undefined).map(({ name }) => name))
    const taken = await host.taken
    expect(taken.filter((name) => !answered.has(name))).to.deep.equal([])
    expect(taken.length).to.be.at.least(ENOUGH)
    const refusals = outcomes.flatMap(({ failure }) => failure ?? [])
    expect(refusals).to.have.length(loops.length)
    for (const refusal of refusals) expect(refusal).to.match(/^14 |ECONNREFUSED|ECONNRESET|socket hang up/)
    const [SERVING, NOT_SERVING] = [1, 2]
    expect(statuses).to.deep.equal([
      [SERVING, true],
      [NOT_SERVING, true],
    ])
    expect(await host.ended).to.equal(0)
    for (const client of clients) client.close()
    agent.destroy()
  })

  it('cuts what hangs, on both listeners, after it has let the others end, and the process ends', async () => {
    const host = await startHost()
    const client = new ForeignClient(EchoService, host.grpc)
    const agent = new Agent({ keepAlive: true })
    const all = host.takes(5)
    const calls = [
      overGrpc(client)('hung over gRPC', -1),
      overHttp(agent, host.port)('hung over HTTP', -1),
      asStream(client)('a stream without end', 60_000),
      overGrpc(client)('3 seconds over gRPC', 3_000),
      overHttp(agent, host.port)('3 seconds over HTTP', 3_000),
    ]
    await all
    host.process.send('stop')
    const outcomes = await Promise.all(calls)
    expect(outcomes.filter(({ failure }) => failure === undefined).map(({ name }) => name)).to.deep.equal([
      '3 seconds over gRPC',
      '3 seconds over HTTP',
    ])
    expect(await host.taken).to.have.length(5)
    expect(await host.ended).to.equal(0)
    client.close()
    agent.destroy()
  })
})
