import { Server as GrpcServer, ServerCredentials } from '@grpc/grpc-js'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { devPrincipal } from '../../../lib/server/authn/dev-principal.js'
import { NoTimeout } from '../../../lib/server/config/config.js'
import { verifiedPrincipal } from '../../../lib/server/config/verified-principal.js'
import { ServerBuilder } from '../../../lib/server/server-builder.js'
import type { ServerCall } from '../../../lib/call.js'
import { EchoService } from '../../support/gen/specimens_pb.js'
import { frameOf, RawGrpc } from '../../support/grpc/raw-grpc.js'
import {
  ALICE,
  post,
  recordingLogger,
  type RunningServer,
  startServer,
} from '../../support/servers/server.js'
import { echoService } from '../../support/grpc/echo.js'

const BODY = frameOf({ text: 'a' })

describe('what the gRPC listener admits', () => {
  let running: RunningServer
  let raw: RawGrpc
  let ran: string[]
  let deadline: number | undefined

  before(async () => {
    running = await startServer(
      (builder) =>
        builder.register(EchoService, {
          ...echoService,
          echo: (_request, call: ServerCall) => {
            ran.push('handler')
            deadline = call.deadline
            return { text: 'a' }
          },
        }),
      {
        principalFunc: verifiedPrincipal,
        resilience: { requestTimeoutMs: NoTimeout },
        authenticator: {
          authenticate: async () => {
            ran.push('authenticator')
            return { subject: 'alice', tenant: 'acme', groups: [], scopes: [] }
          },
        },
      },
    )
    raw = new RawGrpc(running.grpc)
  })
  beforeEach(() => (ran = []))
  after(async () => {
    raw.close()
    await running.stop()
  })

  const ALL = ['authenticator', 'handler']
  const types: readonly (readonly [string, boolean])[] = [
    ['application/grpc', true],
    ['application/grpc+proto', true],
    ['application/grpc;charset=utf-8', true],
    ['application/grpc+proto; a=b', true],
    ['application/grpc ;a', true],
    ['application/grpc-web', false],
    ['application/grpc-web+proto', false],
    ['application/grpc-web-text', false],
    ['application/grpc+json', false],
    ['application/grpc+thrift', false],
    ['application/grpc+', false],
    ['application/grpc+proto2', false],
    ['application/grpc+proto+json', false],
    ['application/grpcx', false],
    ['application/grpc, application/grpc', false],
    ['application/json', false],
    ['text/html', false],
    ['', false],
  ]
  for (const method of ['Echo', 'Count', 'Nope'])
    for (const [type, isSpoken] of types)
      it(`${isSpoken ? 'serves' : 'refuses'} ${method} in "${type}"`, async () => {
        const headers = { ...ALICE, authorization: 'Bearer x', 'content-type': type }
        const { httpStatus, code } = await raw.call(
          method,
          headers,
          method === 'Echo' ? BODY : Buffer.alloc(5),
        )
        const expected = method === 'Nope' ? 12 : 0
        expect([httpStatus, code]).to.deep.equal(isSpoken ? [200, expected] : [415, undefined])
        if (!isSpoken) expect(ran).to.deep.equal([])
        if (isSpoken && method === 'Echo') expect(ran).to.deep.equal(ALL)
      })

  const timeouts: readonly (readonly [string, number | undefined])[] = [
    ['5S', 5_000],
    ['500m', 500],
    ['00000005S', 5_000],
    ['99999999u', 99_999.999],
    ['99999999n', 99.999_999],
    ['2M', 120_000],
    ['99999999m', 99_999_999],
    ['99999999S', 99_999_999_000],
    ['1000H', 3_600_000_000],
    ['99999999H', 99_999_999 * 3_600_000],
    ['', undefined],
    ['5', undefined],
    ['S', undefined],
    ['5s', undefined],
    ['5 S', undefined],
    ['5SS', undefined],
    ['x5S', undefined],
    ['5Sx', undefined],
    ['-5S', undefined],
    ['+5S', undefined],
    ['1.5S', undefined],
    ['1e3m', undefined],
    ['0x5S', undefined],
    ['123456789S', undefined],
    ['000000005S', undefined],
    ['5S, 6S', undefined],
    ['5S,', undefined],
  ]
  for (const [text, ms] of timeouts)
    it(`${ms === undefined ? 'refuses' : 'takes'} the timeout "${text}", as HTTP does`, async () => {
      const headers = { ...ALICE, authorization: 'Bearer x', 'grpc-timeout': text, 'x-request-id': 'r1' }
      const listeners = [
        () => raw.call('Echo', headers, BODY),
        async () => {
          const response = await fetch(`${running.http}/v1/echo`, post(headers))
          const { code, message } = (await response.json()) as { code?: number; message?: string }
          const id = response.headers.get('x-request-id') ?? ''
          return { code: code ?? 0, text: message ?? 'OK', requestId: id }
        },
      ]
      for (const call of listeners) {
        ran = []
        const before = Date.now()
        const { code, text: details, requestId } = await call()
        expect(requestId).to.equal('r1')
        if (ms === undefined) {
          expect([code, ran]).to.deep.equal([3, []])
          expect(details).to.equal('the header grpc-timeout must be 1 to 8 digits and a unit, such as 500m')
        } else {
          expect([code, ran]).to.deep.equal([0, ALL])
          expect(deadline).to.be.within(before + ms, Date.now() + ms)
        }
      }
    })

  for (const text of ['0S', '0n'])
    it(`returns DeadlineExceeded for the timeout "${text}"`, async () => {
      const headers = { ...ALICE, authorization: 'Bearer x', 'grpc-timeout': text }
      const { code, text: details } = await raw.call('Echo', headers, BODY)
      expect([code, details]).to.deep.equal([4, 'deadline exceeded'])
      expect(ran).not.to.include('handler')
    })

  for (const timeout of ['2147484S', '35792M', '99999999S', '99999999H'])
    it(`waits for a request with the timeout "${timeout}", which is more than a timer can wait`, async () => {
      for (const method of ['Echo', 'Collect']) {
        const headers = { ...ALICE, authorization: 'Bearer x', 'grpc-timeout': timeout }
        const { stream, outcome } = raw.open(method, headers)
        await pause(10)
        stream.end(BODY)
        expect([method, (await outcome).code]).to.deep.equal([method, 0])
      }
    })

  it('ends a call whose request never comes when its deadline has passed', async () => {
    for (const method of ['Echo', 'Count', 'Collect', 'Chat']) {
      const { outcome } = raw.open(method, { ...ALICE, authorization: 'Bearer x', 'grpc-timeout': '30m' })
      expect([method, (await outcome).code]).to.deep.equal([method, 4])
    }
  })
})

describe('a call that has more time than a timer can wait', () => {
  for (const requestTimeoutMs of [2 ** 31 - 1, 2 ** 31, 2 ** 33])
    it(`is not over at once: ${requestTimeoutMs} ms`, async () => {
      const running = await startServer((builder) => builder.register(EchoService, echoService), {
        resilience: { requestTimeoutMs },
        principalFunc: async (source) => {
          await pause(5)
          return devPrincipal(source)
        },
      })
      const raw = new RawGrpc(running.grpc)
      for (const method of ['Echo', 'Count', 'Collect', 'Chat']) {
        const { stream, outcome } = raw.open(method, ALICE)
        await pause(5)
        stream.end(method === 'Count' ? Buffer.alloc(5) : BODY)
        expect([method, (await outcome).code]).to.deep.equal([method, 0])
      }
      raw.close()
      await running.stop()
    })
})

describe('the way into grpc-js', () => {
  const prototype = GrpcServer.prototype as unknown as { _verifyContentType: unknown }

  it('is checked at start-up', async () => {
    const original = prototype._verifyContentType
    prototype._verifyContentType = undefined
    try {
      const config = { grpcAddr: '127.0.0.1:0', logger: recordingLogger() }
      const server = new ServerBuilder(config).register(EchoService, echoService).build()
      const error = await server.serve(new AbortController().signal).catch((thrown: Error) => thrown)
      expect(error)
        .to.be.instanceOf(TypeError)
        .with.property('message')
        .match(/^@grpc\/grpc-js 1\.\d+\.\d+ is installed, which has no _verifyContentType: .*grpc-js@~1\.14$/)
      expect(server.grpcAddr()).to.equal('')
    } finally {
      prototype._verifyContentType = original
    }
  })

  it('is wrapped once, however many servers there are', async () => {
    const first = await startServer((builder) => builder.register(EchoService, echoService))
    const wrapped = prototype._verifyContentType
    const second = await startServer((builder) => builder.register(EchoService, echoService))
    expect(prototype._verifyContentType).to.equal(wrapped)
    await first.stop()
    await second.stop()
  })

  it('is as it was for servers of somebody else', async () => {
    const other = new GrpcServer()
    const port = await new Promise<number>((resolve, reject) =>
      other.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      ),
    )
    const raw = new RawGrpc(`127.0.0.1:${port}`)
    const headers = { 'content-type': 'application/grpc+json' }
    expect((await raw.call('Echo', headers, BODY)).code).to.equal(12)
    raw.close()
    other.forceShutdown()
  })
})

describe('the headers of a gRPC call', () => {
  let running: RunningServer
  let raw: RawGrpc
  before(async () => {
    running = await startServer(
      (builder) =>
        builder.register(EchoService, {
          ...echoService,
          echo: (_request, { metadata }: ServerCall) => ({
            text: ['a-bin', 'b-bin', 'x-note', 'x!y'].map((name) => metadata.getAll(name).length).join(' '),
          }),
        }),
      { limits: { maxHeaderBytes: 8_000 } },
    )
    raw = new RawGrpc(running.grpc)
  })
  after(async () => {
    raw.close()
    await running.stop()
  })

  const METHODS = ['Echo', 'Count', 'Collect', 'Chat', 'Nope']

  for (const [what, headers, text] of [
    ['are more bytes than they may be', { a: 'x'.repeat(8_000) }, 'the headers are larger than 8000 bytes'],
    [
      'are many, of more bytes than they may be',
      Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`x-${n}`, 'x'.repeat(60)])),
      'the headers are larger than 8000 bytes',
    ],
    [
      'have 129 binary values in one',
      { 'a-bin': ','.repeat(128) },
      'the headers have more than 128 binary values',
    ],
    [
      'have 129 binary values in several',
      { 'a-bin': `AA${',AA'.repeat(99)}`, 'b-bin': `AA${',AA'.repeat(28)}` },
      'the headers have more than 128 binary values',
    ],
  ] as const)
    it(`refuse it before anything is made of them where they ${what}, and its stream is closed`, async () => {
      for (const method of METHODS) {
        const { stream, outcome } = raw.open(method, { ...ALICE, ...headers })
        const closed = once(stream, 'close')
        const { code, text: told } = await outcome
        expect([method, code, told]).to.deep.equal([method, 8, text])
        await closed
      }
    })

  it('close a stream that they get refused, which its client goes on to send', async () => {
    for (const [method, headers, expected] of [
      ['Nope', {}, [200, 12]],
      ['Echo', { 'content-type': 'text/html' }, [415, undefined]],
      ['Echo', { 'grpc-timeout': 'soon' }, [200, 3]],
    ] as const) {
      const { stream, outcome } = raw.open(method, { ...ALICE, ...headers })
      stream.write(Buffer.alloc(10))
      const closed = once(stream, 'close')
      const { httpStatus, code } = await outcome
      expect([httpStatus, code]).to.deep.equal(expected)
      await closed
    }
  })

  const echoed = async (headers: Readonly<Record<string, string>>) => {
    const stream = raw.session.request({
      ...{ ':method': 'POST', ':path': '/specimens.v1.EchoService/Echo' },
      ...{ 'content-type': 'application/grpc', te: 'trailers', ...ALICE, ...headers },
    })
    const bytes: Buffer[] = []
    stream.on('data', (chunk: Buffer) => bytes.push(chunk)).end(BODY)
    await once(stream, 'close')
    return Buffer.concat(bytes).subarray(7).toString()
  }

  it('hold 128 binary values, which arrive one by one', async () => {
    const text = await echoed({ 'a-bin': `AA${',AA'.repeat(99)}`, 'b-bin': `AA${',AA'.repeat(27)}` })
    expect(text).to.equal('100 28 0 0')
  })

  it('that gRPC cannot carry are dropped, and their values are on no console', async () => {
    const printed: unknown[] = []
    const { error } = console
    Object.assign(console, { error: (...values: unknown[]) => void printed.push(values) })
    try {
      expect(await echoed({ 'x-note': 'caf\xe9 s3cret', 'x!y': 's3cret' })).to.equal('0 0 0 0')
      const outcome = await raw.call('Echo', { ...ALICE, authorization: 'Bearer s3cret\xe9' }, BODY)
      expect([outcome.code, outcome.text]).to.deep.equal([
        3,
        'the header authorization must be printable ASCII',
      ])
    } finally {
      Object.assign(console, { error })
    }
    expect(printed).to.deep.equal([])
  })
})
