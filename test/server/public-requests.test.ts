import { create, toBinary } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { deflateSync, gzipSync } from 'node:zlib'
import type { ServerCall } from '../../lib/call.js'
import { envelope } from '../support/connect/wire-client.js'
import { CallRequestSchema, CallService } from '../support/gen/calls_pb.js'
import { RawGrpc } from '../support/grpc/raw-grpc.js'
import { ruledService } from '../support/servers/ruled-service.js'
import { type RunningServer, startServer } from '../support/servers/server.js'
import { until } from '../support/until.js'

const KIB = 1024
const LIMIT = 1024 * KIB
/** A few bytes that become as many as three of them may be. */
const MESSAGE = toBinary(CallRequestSchema, create(CallRequestSchema, { data: [new Uint8Array(300 * KIB)] }))
const SQUEEZED = gzipSync(MESSAGE)

const publicService = ruledService(CallService, () => ({ public: true }), [
  { name: 'Talk', clientStreaming: true, serverStreaming: true },
])

describe('the request of a public method', () => {
  let running: RunningServer
  let raw: RawGrpc
  let inside = 0
  let isHeld = true

  /** Has the request until its call ends. */
  const keep = async (request: unknown, { signal }: ServerCall): Promise<object> => {
    inside++
    if (isHeld)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true })).finally(
        () => inside--,
      )
    return request === undefined ? expect.fail('nothing was read') : {}
  }
  const keepFirst = async (requests: AsyncIterable<object>, call: ServerCall): Promise<object> => {
    for await (const request of requests) await keep(request, call)
    return {}
  }

  before(async () => {
    running = await startServer(
      (builder) =>
        builder.register(publicService, {
          call: keep,
          look: keep,
          follow: async function* (request: object, call: ServerCall) {
            yield await keep(request, call)
          },
          gather: keepFirst,
          talk: async function* (requests: AsyncIterable<object>, call: ServerCall) {
            yield await keepFirst(requests, call)
          },
        } as never),
      { limits: { unauthenticatedBytes: LIMIT }, gateway: { connect: true } },
    )
    raw = new RawGrpc(running.grpc)
  })
  after(async () => {
    raw.close()
    await running.stop()
  })

  /** A call, what its caller is told in the end, and how it leaves. */
  interface Sent {
    readonly told: Promise<unknown>
    leave(): void
  }
  const overGrpc = (method: string): Sent => {
    const { stream, outcome } = raw.open('', {
      ...{ ':path': `/calls.v1.CallService/${method}`, 'grpc-encoding': 'gzip' },
    })
    stream.write(envelope(1, SQUEEZED))
    if (method !== 'Gather' && method !== 'Talk') stream.end()
    return { told: outcome.then(({ code }) => code), leave: () => stream.close(8) }
  }
  const overHttp = (method: string, headers: Readonly<Record<string, string>>, body?: Buffer): Sent => {
    const controller = new AbortController()
    const told = fetch(`${running.http}/calls.v1.CallService/${method}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers,
      body: body === undefined ? null : new Uint8Array(body),
      signal: controller.signal,
    }).then(
      async (response) => /resource.exhausted|grpc-status: 8/.test(await response.text()) && 8,
      () => 'left',
    )
    return { told, leave: () => controller.abort() }
  }
  const query = `encoding=proto&base64=1&compression=gzip&message=${SQUEEZED.toString('base64url')}`

  const ways: Readonly<Record<string, () => Sent>> = {
    'unary, over gRPC': () => overGrpc('Call'),
    'a stream of responses, over gRPC': () => overGrpc('Follow'),
    'a stream of requests, over gRPC': () => overGrpc('Gather'),
    'a stream both ways, over gRPC': () => overGrpc('Talk'),
    'unary, over Connect': () =>
      overHttp('Call', { 'content-type': 'application/proto', 'content-encoding': 'gzip' }, SQUEEZED),
    'by a GET of Connect': () => overHttp(`Look?${query}`, {}),
    'a stream of responses, over Connect': () =>
      overHttp(
        'Follow',
        { 'content-type': 'application/connect+proto', 'connect-content-encoding': 'gzip' },
        envelope(1, SQUEEZED),
      ),
    'a stream of responses, over gRPC-Web': () =>
      overHttp(
        'Follow',
        { 'content-type': 'application/grpc-web+proto', 'grpc-encoding': 'gzip' },
        envelope(1, SQUEEZED),
      ),
  }
  for (const [way, send] of Object.entries(ways))
    it(`counts, inflated, as long as its call: ${way}`, async () => {
      for (let round = 0; round < 2; round++) {
        const sent: Sent[] = []
        for (let n = 0; n < 3; n++) {
          sent.push(send())
          await until(() => inside === n + 1)
        }
        sent.push(send())
        const [first, ...others] = sent
        expect(await first?.told).to.equal(8)
        await until(() => inside === 3)
        for (const { leave } of others) leave()
        await until(() => inside === 0)
      }
    })

  const told = async (path: string, coding: string, body: Buffer): Promise<unknown> => {
    const { outcome, stream } = raw.open('', { ':path': path, 'grpc-encoding': coding })
    stream.end(body)
    return (await outcome).code
  }
  const overConnect = async (path: string, body: Buffer): Promise<unknown> => {
    const headers = { 'content-type': 'application/proto', 'content-encoding': 'gzip' }
    const url = `${running.http}${path}`
    const response = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) })
    return response.status === 200 ? 'ok' : ((await response.json()) as { code: string }).code
  }
  /** So many fields that no type has. */
  const unknown = (count: number) => Buffer.alloc(2 * count, Buffer.from([0x78, 0]))

  it('of the framework holds a few names, inflated too', async () => {
    const check = '/grpc.health.v1.Health/Check'
    const [few, many] = [unknown(4_000), unknown(4_200)]
    for (const [coding, compress] of [
      ['gzip', gzipSync],
      ['deflate', deflateSync],
    ] as const)
      expect([
        await told(check, coding, envelope(1, compress(few))),
        await told(check, coding, envelope(1, compress(many))),
        await told(check, coding, envelope(0, many)),
        await told('/grpc.health.v1.Health/Watch', coding, envelope(1, compress(many))),
      ]).to.deep.equal([0, 8, 8, 8])
    expect([await overConnect(check, gzipSync(few)), await overConnect(check, gzipSync(many))]).to.deep.equal(
      ['ok', 'resource_exhausted'],
    )
  })

  it('has no more than 10,000 fields that are not known', async () => {
    const call = '/calls.v1.CallService/Call'
    const many = gzipSync(unknown(10_001))
    expect([await told(call, 'gzip', envelope(1, many)), await overConnect(call, many)]).to.deep.equal([
      3,
      'invalid_argument',
    ])
  })

  it('is given back when its call ends well', async () => {
    isHeld = false
    for (let n = 0; n < 5; n++)
      for (const [way, send] of Object.entries(ways)) {
        const { told, leave } = send()
        await until(() => inside > 0)
        inside = 0
        if (/stream (of requests|both)/.test(way)) leave()
        else expect([way, [false, 0].includes((await told) as never)]).to.deep.equal([way, true])
      }
    isHeld = true
  })
})
