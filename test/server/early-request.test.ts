import { expect } from 'chai'
import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import express from 'express'
import { create, toBinary } from '@bufbuild/protobuf'
import { devAuthorizer } from '../../lib/server/authz/dev-authorizer.js'
import { envelope } from '../support/connect/wire-client.js'
import { callService } from '../support/connect/call-service.js'
import { CallRequestSchema, CallService } from '../support/gen/calls_pb.js'
import { EchoService, SpecimenService } from '../support/gen/specimens_pb.js'
import { ForeignClient, niceClient } from '../support/grpc/clients.js'
import { echoService } from '../support/grpc/echo.js'
import { frameOf, RawGrpc } from '../support/grpc/raw-grpc.js'
import { rejection } from '../support/rejection.js'
import { authority } from '../support/servers/certificates.js'
import { ALICE, partly, type RunningServer, startServer } from '../support/servers/server.js'

/** Of no coding, no message and no JSON: whoever reads it says so. */
const GARBAGE = Buffer.from('\xff'.repeat(1_000), 'latin1')
const LARGE_GARBAGE = Buffer.alloc(200_000, 0xff)
const [DENIED, FINE] = [7, 0]

describe('a request before its call is let in', () => {
  const ours = authority('Ashlar test authority')
  const { certificate, key } = ours.issue('localhost')
  let running: RunningServer
  let raw: RawGrpc
  let overHttp2: ClientHttp2Session
  let mounted: Server
  let weighed = 0
  before(async () => {
    const weighSpecimen = ({ id }: { id: string }) => {
      weighed++
      return { id }
    }
    running = await startServer(
      (builder) =>
        builder
          .register(EchoService, echoService)
          .register(CallService, callService)
          .register(SpecimenService, partly(SpecimenService, { weighSpecimen })),
      {
        httpTls: { certificateChain: certificate, privateKey: key },
        gateway: { connect: true, grpc: true, http2: true },
        authorizer: devAuthorizer([
          { tenant: '*', subjects: ['alice'], verbs: ['*'], resource: 'echo' },
          { tenant: '*', subjects: ['alice'], verbs: ['*'], resource: 'call' },
          { tenant: '*', subjects: ['alice'], verbs: ['*'], resource: 'specimen:a' },
        ]),
      },
      (server) => {
        const app = express().use(express.raw({ type: '*/*', limit: '1mb' }))
        mounted = createServer(app.use(server.httpListener()))
      },
    )
    raw = new RawGrpc(running.grpc)
    overHttp2 = connect(running.http.replace('http:', 'https:').replace('127.0.0.1', 'localhost'), {
      ca: ours.certificate,
    })
    await once(mounted.listen(0, '127.0.0.1'), 'listening')
  })
  after(async () => {
    raw.close()
    overHttp2.destroy()
    mounted.closeAllConnections()
    mounted.close()
    await running.stop()
  })

  /** The codes that nobody and somebody get. */
  const told = async (send: (identity: object) => Promise<number | undefined>) => [
    await send({}),
    await send(ALICE),
  ]

  describe('over gRPC', () => {
    const call = (method: string, headers: object, body: Buffer) =>
      told(async (identity) => (await raw.call(method, { ...headers, ...identity }, body)).code)

    for (const method of ['Echo', 'Count', 'Collect', 'Chat']) {
      it(`is not decoded: ${method}`, async () => {
        for (const garbage of [GARBAGE, LARGE_GARBAGE])
          expect(await call(method, {}, envelope(0, garbage))).to.deep.equal([DENIED, 3])
      })

      for (const coding of ['gzip', 'deflate', 'br', 'identity', undefined])
        it(`is not inflated by ${coding ?? 'what no header names'}: ${method}`, async () => {
          const headers = coding === undefined ? {} : { 'grpc-encoding': coding }
          const code = { gzip: 3, deflate: 3, br: 12 }[coding ?? ''] ?? 13
          for (const garbage of [GARBAGE, LARGE_GARBAGE])
            expect(await call(method, headers, envelope(1, garbage))).to.deep.equal([DENIED, code])
        })

      it(`is not looked at, neither its flags nor its number of messages: ${method}`, async () => {
        expect(await call(method, {}, envelope(2, Buffer.alloc(0)))).to.deep.equal([DENIED, 13])
        expect(await call(method, {}, frameOf({ text: 'cut' }).subarray(0, -1))).to.deep.equal([DENIED, 13])
        const many = Buffer.alloc(50_000)
        const isStream = method === 'Collect' || method === 'Chat'
        expect(await call(method, {}, many)).to.deep.equal([DENIED, isStream ? FINE : 12])
      })
    }

    for (const [coding, compress] of [
      ['gzip', gzipSync],
      ['deflate', deflateSync],
    ] as const)
      it(`is inflated by ${coding} once its call is let in, each message of a stream by itself`, async () => {
        const message = frameOf({ text: 'x'.repeat(300_000) }).subarray(5)
        const headers = { 'grpc-encoding': coding }
        const one = envelope(1, compress(message))
        expect(await call('Echo', headers, one)).to.deep.equal([DENIED, FINE])
        expect(await call('Collect', headers, Buffer.concat([one, one, one]))).to.deep.equal([DENIED, FINE])
        const bomb = envelope(1, compress(Buffer.alloc(5_000_000)))
        expect(await call('Echo', headers, bomb)).to.deep.equal([DENIED, 8])
        expect(await call('Collect', headers, Buffer.concat([one, bomb]))).to.deep.equal([DENIED, 8])
        expect(await call('Echo', headers, envelope(1, Buffer.alloc(0)))).to.deep.equal([DENIED, FINE])
      })

    it('is read whole where a field of it decides, for a caller with an identity only', async () => {
      const weigh = (body: Buffer, headers = {}) =>
        call('', { ':path': '/specimens.v1.SpecimenService/WeighSpecimen', ...headers }, body)
      const id = (text: string) => Buffer.concat([Buffer.from([10, text.length]), Buffer.from(text)])
      expect(await weigh(envelope(0, id('a')))).to.deep.equal([DENIED, FINE])
      expect(await weigh(envelope(0, id('b')))).to.deep.equal([DENIED, DENIED])
      expect(await weigh(envelope(0, LARGE_GARBAGE))).to.deep.equal([DENIED, 3])
      const gzip = { 'grpc-encoding': 'gzip' }
      expect(await weigh(envelope(1, gzipSync(id('a'))), gzip)).to.deep.equal([DENIED, FINE])
      expect(await weigh(envelope(1, gzipSync(id('b'))), gzip)).to.deep.equal([DENIED, DENIED])
      expect(await weigh(envelope(1, gzipSync(Buffer.alloc(5_000_000))), gzip)).to.deep.equal([DENIED, 8])
      expect(weighed).to.equal(2)
    })

    it('is as large as it likes for clients of grpc-js and nice-grpc, who are told why it is refused', async () => {
      const text = 'x'.repeat(1_500_000)
      const client = new ForeignClient(EchoService, running.grpc)
      const denied = await client.unary('Echo', { text })
      expect([denied.code, denied.details]).to.deep.equal([DENIED, 'permission denied'])
      const { answer } = await client.unary('Echo', { text }, ALICE)
      expect((answer as { text: string }).text).to.have.length(1_500_000)
      client.close()
      const { client: nice, close } = niceClient(EchoService, running.grpc)
      const texts = async function* () {
        for (let n = 0; n < 5; n++) yield await Promise.resolve({ text })
      }
      expect((await rejection(nice.collect(texts()), Error)).message).to.include('PERMISSION_DENIED')
      close()
    })
  })

  /** A POST over HTTP/2: the code that the protocol tells, or the status of HTTP. */
  const post = (path: string, headers: object, body: Buffer, method = 'POST'): Promise<number> =>
    new Promise((resolve, reject) => {
      const stream = overHttp2.request({ ':method': method, ':path': path, ...headers })
      let status = 0
      let text = ''
      const note = (seen: object) => {
        const { ':status': http, 'grpc-status': code } = seen as Record<string, string | undefined>
        status = Number(code ?? (status > 0 ? status : http))
      }
      stream.on('response', note).on('trailers', note).on('error', reject)
      stream.on('data', (data: Buffer) => (text += data.toString('latin1')))
      stream.on('close', () => {
        const code = /grpc-status: (\d+)/.exec(text)?.[1]
        const name = /"code":"([a-z_]+)"/.exec(text)?.[1]
        resolve(code === undefined ? (CONNECT[name ?? ''] ?? status) : Number(code))
      })
      if (method !== 'GET') stream.end(body)
    })
  const CONNECT: Readonly<Record<string, number>> = {
    permission_denied: DENIED,
    invalid_argument: 3,
    internal: 13,
    resource_exhausted: 8,
  }

  const [CALL, FOLLOW] = ['/calls.v1.CallService/Call', '/calls.v1.CallService/Follow']
  for (const [protocol, header, path] of [
    ['application/grpc', 'grpc-encoding', CALL],
    ['application/grpc', 'grpc-encoding', FOLLOW],
    ['application/grpc-web+proto', 'grpc-encoding', CALL],
    ['application/grpc-web+json', 'grpc-encoding', CALL],
    ['application/grpc-web+proto', 'grpc-encoding', FOLLOW],
    ['application/connect+proto', 'connect-content-encoding', FOLLOW],
    ['application/connect+json', 'connect-content-encoding', FOLLOW],
  ] as const)
    it(`is not inflated inside of an envelope: ${protocol} of ${path}`, async () => {
      const send = (headers: object, body: Buffer) =>
        told((identity) =>
          post(path, { 'content-type': protocol, te: 'trailers', ...headers, ...identity }, body),
        )
      for (const coding of ['gzip', 'br'])
        for (const garbage of [GARBAGE, LARGE_GARBAGE])
          expect(await send({ [header]: coding }, envelope(1, garbage))).to.deep.equal([DENIED, 3])
      expect(await send({}, envelope(1, GARBAGE))).to.deep.equal([DENIED, 13])
      const json = protocol.endsWith('json')
      const plain = json ? Buffer.from('{}') : toBinary(CallRequestSchema, create(CallRequestSchema))
      const codes = await send({ [header]: 'br' }, envelope(1, brotliCompressSync(plain)))
      expect([codes[0], codes[1] === 200 ? 0 : codes[1]]).to.deep.equal([DENIED, FINE])
      const bomb = envelope(1, brotliCompressSync(Buffer.alloc(2_000_000, ' ')))
      expect(await send({ [header]: 'br' }, bomb)).to.deep.equal([DENIED, 8])
    })

  it('is not inflated in the query of a Connect GET', async () => {
    const get = (bytes: Buffer, coding: string) => {
      const query = `connect=v1&encoding=json&base64=1&compression=${coding}&message=${bytes.toString('base64url')}`
      return told((identity) => post(`/calls.v1.CallService/Look?${query}`, identity, Buffer.alloc(0), 'GET'))
    }
    for (const coding of ['gzip', 'br']) expect(await get(GARBAGE, coding)).to.deep.equal([DENIED, 3])
    expect(await get(gzipSync('{}'), 'gzip')).to.deep.equal([DENIED, 200])
    expect(await get(brotliCompressSync(Buffer.alloc(2_000_000, ' ')), 'br')).to.deep.equal([DENIED, 8])
  })

  it('is not decoded where the framework around the gateway has read it', async () => {
    const { port } = mounted.address() as AddressInfo
    const send = async (headers: object, body: Buffer) => {
      const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } }
      return (await fetch(`http://127.0.0.1:${port}/v1/echo`, { ...init, body: new Uint8Array(body) })).status
    }
    expect([await send({}, LARGE_GARBAGE), await send(ALICE, LARGE_GARBAGE)]).to.deep.equal([403, 400])
    expect(await send(ALICE, Buffer.from(`{"text":"${'x'.repeat(200_000)}"}`))).to.equal(200)
  })
})
