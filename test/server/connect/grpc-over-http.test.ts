import { expect } from 'chai'
import { type Client, type ClientTransport, createClient, grpcTransport } from '../../../lib/client/index.js'
import type { Metadata } from '../../../lib/call.js'
import { AshlarError, DeclarationError } from '../../../lib/errors.js'
import type { GatewayConfig } from '../../../lib/server/config/config.js'
import { callService } from '../../support/connect/call-service.js'
import { CallService, HeaderSchema } from '../../support/gen/calls_pb.js'
import { rejection } from '../../support/rejection.js'
import { authority } from '../../support/servers/certificates.js'
import { ALICE, type RunningServer, startServer } from '../../support/servers/server.js'

const ours = authority('Ashlar test authority')
const { certificate, key } = ours.issue('localhost')
const TLS = { certificateChain: certificate, privateKey: key }
const HEADERS = { forwardHeaders: ['x-test-request'], responseHeaders: ['x-test-header', 'x-test-trailer'] }

/** One port for everything: clients of grpc-js at the listener of HTTP. */
describe('gRPC on the HTTP listener', () => {
  let running: RunningServer
  let transport: ClientTransport
  let calls: Client<typeof CallService>
  before(async () => {
    running = await startServer((builder) => builder.register(CallService, callService), {
      tls: TLS,
      gateway: { connect: true, grpc: true, maxBodyBytes: 64 * 1024, ...HEADERS },
    })
    const address = new URL(running.http).host.replace('127.0.0.1', 'localhost')
    transport = grpcTransport(address, { tls: { rootCertificates: ours.certificate } })
    calls = createClient(CallService, { transport, metadata: ALICE })
  })
  after(async () => {
    transport.close()
    await running.stop()
  })

  it('calls, with its deadline, and the metadata that the gateway forwards', async () => {
    const metadata = { 'x-test-request': 'one', 'x-other': 'two' }
    const { number, received, timeLeftMs = 0n } = await calls.call({ number: 2n ** 60n + 1n }, { metadata })
    expect(number).to.equal(2n ** 60n + 1n)
    expect(Number(timeLeftMs)).to.be.within(1, 15_000)
    const names = new Map(received.map(({ name, values }) => [name, values]))
    expect(names.get('x-test-request')).to.deep.equal(['one'])
    expect(names.has('x-other')).to.equal(false)
  })

  it('sends headers and trailers', async () => {
    let headers: Metadata | undefined
    let trailers: Metadata | undefined
    await calls.call(
      {
        headers: [{ name: 'x-test-header', values: ['a'] }],
        trailers: [{ name: 'x-test-trailer', values: ['b'] }],
      },
      { onHeaders: (seen) => (headers = seen), onTrailers: (seen) => (trailers = seen) },
    )
    expect(headers?.get('x-test-header')).to.equal('a')
    expect(headers?.get('x-request-id')).to.match(/./)
    expect(trailers?.get('x-test-trailer')).to.equal('b')
  })

  it('fails with code, text and details', async () => {
    const details = [{ name: 'cause', values: ['a'] }]
    const call = calls.call({ failure: { code: 9, message: 'nicht jetzt: ä', details } })
    const error = await rejection(call, AshlarError)
    expect(error).to.include({ code: 'FAILED_PRECONDITION', message: 'nicht jetzt: ä' })
    expect(error.details).to.have.nested.property('[0].desc', HeaderSchema)
    const stranger = createClient(CallService, { transport })
    expect(await rejection(stranger.call({}), AshlarError)).to.include({ code: 'PERMISSION_DENIED' })
  })

  it('follows streams to their end, and to their failure', async () => {
    const seen: string[] = []
    const follow = async (failure?: { code: number; message: string }) => {
      const data = ['a', 'b', 'c'].map((text) => Buffer.from(text))
      for await (const response of calls.follow({ data, ...(failure && { failure }) }))
        seen.push(Buffer.from(response.data).toString())
    }
    await follow()
    expect(seen).to.deep.equal(['a', 'b', 'c'])
    const error = await rejection(follow({ code: 10, message: 'changed' }), AshlarError)
    expect(error).to.include({ code: 'ABORTED', message: 'changed' })
    expect(seen).to.have.length(6)
  })

  it('refuses a request that is too large', async () => {
    const call = calls.call({ data: [Buffer.alloc(70 * 1024)] })
    expect(await rejection(call, AshlarError)).to.include({ code: 'RESOURCE_EXHAUSTED' })
  })

  it('serves no streams of requests, and says so', async () => {
    async function* requests() {
      yield await Promise.resolve({ number: 1n })
    }
    expect(await rejection(calls.gather(requests()), AshlarError)).to.include({ code: 'UNIMPLEMENTED' })
  })

  it('is not there over HTTP/1.1', async () => {
    const plain = await startServer((builder) => builder.register(CallService, callService), {
      gateway: { connect: true },
    })
    const response = await fetch(`${plain.http}/calls.v1.CallService/Call`, {
      method: 'POST',
      headers: { ...ALICE, 'content-type': 'application/grpc' },
      body: new Uint8Array(5),
    })
    expect(response.status).to.equal(415)
    expect(response.headers.get('accept-post')?.split(', ')).to.not.include('application/grpc')
    await plain.stop()
  })

  for (const [gateway, tls, problem] of [
    [{ connect: true, grpc: true }, undefined, 'needs TLS'],
    [{ grpc: true }, TLS, 'needs connect: true'],
    [{ connect: true, grpc: true, http2: false }, TLS, 'needs HTTP/2'],
  ] as readonly (readonly [GatewayConfig, typeof TLS | undefined, string])[])
    it(`stops the start with ${JSON.stringify(gateway)}${tls === undefined ? ' without TLS' : ''}`, async () => {
      const start = startServer((builder) => builder.register(CallService, callService), {
        gateway,
        ...(tls && { tls }),
      })
      await rejection(start, DeclarationError, problem)
    })
})
