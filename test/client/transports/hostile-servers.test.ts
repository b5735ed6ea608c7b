import { expect } from 'chai'
import { once } from 'node:events'
import { createServer as createHttp, type IncomingHttpHeaders, type Server as HttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { connectTransport, createClient, grpcTransport } from '../../../lib/client/index.js'
import { AshlarError } from '../../../lib/errors.js'
import { CallService } from '../../support/gen/calls_pb.js'
import { rejection } from '../../support/rejection.js'
import { callService } from '../../support/connect/call-service.js'
import { ALICE, startServer } from '../../support/servers/server.js'

const listening = async (server: Server | HttpServer): Promise<string> => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('a client of a server that means ill', () => {
  const closing: (() => void)[] = []
  afterEach(() => closing.splice(0).forEach((close) => close()))

  for (const [name, open] of [
    ['gRPC', (address: string) => grpcTransport(address)],
    ['Connect', (address: string) => connectTransport(`http://${address}`)],
  ] as const) {
    it(`gives up on one that never responds, over ${name}`, async () => {
      const sockets: Socket[] = []
      const silent = createServer((socket) => void sockets.push(socket.on('error', () => {})))
      closing.push(() => (silent.close(), sockets.forEach((socket) => socket.destroy())))
      const transport = open(await listening(silent))
      closing.push(() => transport.close())
      const calls = createClient(CallService, { transport, timeoutMs: 150 })
      expect(await rejection(calls.call({}), AshlarError)).to.include({ code: 'DEADLINE_EXCEEDED' })
      expect(await rejection(calls.look({}), AshlarError)).to.include({ code: 'DEADLINE_EXCEEDED' })
    })

    it(`tells that nobody listens, over ${name}`, async () => {
      const taken = createServer()
      const address = await listening(taken)
      taken.close()
      await once(taken, 'close')
      const transport = open(address)
      closing.push(() => transport.close())
      const calls = createClient(CallService, { transport, retry: { initialPauseMs: 1 } })
      expect(await rejection(calls.look({}), AshlarError)).to.include({ code: 'UNAVAILABLE' })
    })

    it(`refuses more bytes than it wants, over ${name}`, async () => {
      const running = await startServer((builder) => builder.register(CallService, callService), {
        gateway: { connect: true },
      })
      const transport =
        name === 'gRPC'
          ? grpcTransport(running.grpc, { maxResponseBytes: 10_000 })
          : connectTransport(running.http, { maxResponseBytes: 10_000 })
      const calls = createClient(CallService, { transport, metadata: ALICE })
      expect(await rejection(calls.call({ data: [Buffer.alloc(20_000)] }), AshlarError)).to.include({
        code: 'RESOURCE_EXHAUSTED',
      })
      transport.close()
      await running.stop()
    })
  }

  it('waits for no token longer than for the call', async () => {
    const transport = connectTransport('http://127.0.0.1:1')
    const calls = createClient(CallService, {
      transport,
      timeoutMs: 50,
      metadata: () => new Promise(() => {}),
    })
    expect(await rejection(calls.call({}), AshlarError)).to.include({ code: 'DEADLINE_EXCEEDED' })
  })

  for (const status of [301, 302, 303, 307, 308])
    it(`does not follow a ${status} to another host with its metadata`, async () => {
      const received: IncomingHttpHeaders[] = []
      const other = createHttp((request, response) => {
        received.push(request.headers)
        response.end()
      })
      const location = `http://${await listening(other)}/calls.v1.CallService/Look`
      const first = createHttp((_request, response) => response.writeHead(status, { location }).end())
      const transport = connectTransport(`http://${await listening(first)}`)
      closing.push(() => (first.closeAllConnections(), first.close(), other.close(), transport.close()))
      const calls = createClient(CallService, { transport, metadata: { authorization: 'Bearer secret' } })
      await rejection(calls.look({}), AshlarError)
      const follow = async () => {
        for await (const _ of calls.follow({}));
      }
      await rejection(follow(), AshlarError)
      expect(received).to.deep.equal([])
    })

  it('reads no error that is not one', async () => {
    for (const [type, body] of [
      ['application/json', '{"code": "no_such_code", "message": 7, "details": [{"type": 5}]}'],
      ['application/json', '{'],
      ['text/html', '<html>'],
      ['application/proto', '\u0001\u0002'],
    ] as const)
      for (const status of [200, 400, 502]) {
        const server = createHttp((_request, response) =>
          response.writeHead(status, { 'content-type': type }).end(body),
        )
        const transport = connectTransport(`http://${await listening(server)}`)
        const calls = createClient(CallService, { transport, retry: false })
        await rejection(calls.look({}), AshlarError)
        server.closeAllConnections()
        server.close()
      }
  })
})
