import { expect } from 'chai'
import { randomBytes } from 'node:crypto'
import { connect as connectTo, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { create, toBinary } from '@bufbuild/protobuf'
import type { ServerCall } from '../../../lib/call.js'
import { callService } from '../../support/connect/call-service.js'
import { envelope } from '../../support/connect/wire-client.js'
import { type CallRequest, CallRequestSchema, CallService } from '../../support/gen/calls_pb.js'
import { ALICE, post, type RunningServer, startServer } from '../../support/servers/server.js'
import { until } from '../../support/until.js'

const MIB = 2 ** 20
const CALL = '/calls.v1.CallService/Call'
const FOLLOW = '/calls.v1.CallService/Follow'
const TYPES = ['application/json', 'application/proto', 'application/grpc-web+proto'] as const

/** What a stream without an end was told, and how far it came. */
const endless = { sent: 0, ended: 0 }

/** How many unary calls have begun. */
let calls = 0

const service = {
  ...callService,
  call(request: CallRequest, call: ServerCall) {
    calls++
    return callService.call(request, call)
  },
  async *follow(request: CallRequest, call: ServerCall) {
    if (request.number !== -1n) {
      yield* callService.follow(request, call)
      return
    }
    try {
      for (; !call.signal.aborted; endless.sent++)
        yield await Promise.resolve({ data: randomBytes(64 * 1024) })
    } finally {
      endless.ended++
    }
  },
}

describe('Connect under attack', () => {
  let running: RunningServer
  before(async () => {
    running = await startServer((builder) => builder.register(CallService, service), {
      gateway: { connect: true },
    })
  })
  after(() => running.stop())
  beforeEach(() => Object.assign(endless, { sent: 0, ended: 0 }))

  const send = async (path: string, headers: object, body: Uint8Array | string, method = 'POST') => {
    const all = { ...ALICE, ...headers } as Record<string, string>
    const bytes = typeof body === 'string' ? body : new Uint8Array(body)
    const response = await fetch(`${running.http}${path}`, { method, headers: all, body: bytes })
    return { status: response.status, text: await response.text() }
  }
  const isAlive = async () =>
    expect((await send(CALL, { 'content-type': 'application/json' }, '{}')).status).to.equal(200)

  it('rejects a POST that a browser sends for another site without an Origin, in every format', async () => {
    const before = calls
    for (const type of TYPES)
      for (const [site, expected] of [
        ['cross-site', 415],
        ['same-site', 415],
        ['same-origin', 200],
        ['none', 200],
      ] as const) {
        const headers = { 'content-type': type, 'sec-fetch-site': site }
        const body =
          type === 'application/json' ? '{}' : type === 'application/proto' ? '' : new Uint8Array(5)
        expect((await send(CALL, headers, body)).status, `${type}, ${site}`).to.equal(expected)
      }
    expect(calls - before).to.equal(2 * TYPES.length)
  })

  /** Writes text as it is, and returns what came back until the server closed, or until that was `enough`. */
  const raw = (
    text: string | Buffer,
    more: (socket: Socket) => void = () => {},
    enough?: RegExp,
  ): Promise<string> =>
    new Promise((resolve) => {
      const { hostname, port } = new URL(running.http)
      const chunks: Buffer[] = []
      const socket = connectTo(Number(port), hostname, () => {
        socket.write(text)
        more(socket)
      })
      const done = () => {
        socket.destroy()
        resolve(Buffer.concat(chunks).toString())
      }
      socket.on('data', (chunk) => {
        chunks.push(chunk)
        if (enough?.test(Buffer.concat(chunks).toString()) === true) done()
      })
      socket.once('close', done).once('error', done)
    })
  const head = (path: string, ...lines: readonly string[]) =>
    [
      ...[`POST ${path} HTTP/1.1`, 'Host: a', 'account-id: acme', 'groups: makers', 'subject: alice'],
      ...[...lines, '', ''],
    ].join('\r\n')

  it('refuses bodies of 10 MB, with a length and without one', async () => {
    const body = Buffer.alloc(10 * MIB, 0x20)
    for (const type of TYPES) {
      const { text } = await send(CALL, { 'content-type': type }, body)
      expect(text).to.match(/resource_exhausted|grpc-status: 8/)
    }
    const chunked = await raw(
      head(CALL, 'Content-Type: application/json', 'Transfer-Encoding: chunked'),
      (socket) => {
        for (let sent = 0; sent < 10; sent++) socket.write(`100000\r\n${' '.repeat(MIB)}\r\n`)
      },
      /resource_exhausted/,
    )
    expect(chunked).to.include('429').and.include('resource_exhausted')
    await isAlive()
  })

  it('refuses what grows when it is inflated, without inflating it', async () => {
    const zeros = Buffer.alloc(128 * MIB)
    const bombs = { gzip: gzipSync(zeros), br: brotliCompressSync(zeros.subarray(0, 32 * MIB)) }
    for (const [coding, bomb] of Object.entries(bombs)) {
      const before = process.memoryUsage().rss
      const type = { 'content-type': 'application/proto', 'content-encoding': coding }
      expect((await send(CALL, type, bomb)).text).to.include('resource_exhausted')
      for (const [name, kind] of [
        ['connect-content-encoding', 'application/connect+proto'],
        ['grpc-encoding', 'application/grpc-web+proto'],
      ] as const) {
        const { text } = await send(FOLLOW, { 'content-type': kind, [name]: coding }, envelope(1, bomb))
        expect(text).to.match(/resource_exhausted|grpc-status: 8/)
      }
      const grown = (process.memoryUsage().rss - before) / MIB
      expect(grown).to.be.below(100)
    }
    await isAlive()
  })

  it('refuses what is not of its coding', async () => {
    for (const coding of ['gzip', 'br', 'deflate']) {
      const headers = { 'content-type': 'application/proto', 'content-encoding': coding }
      expect((await send(CALL, headers, Buffer.from('not compressed'))).status).to.equal(400)
    }
    const cut = gzipSync(Buffer.alloc(4096)).subarray(0, 20)
    const headers = { 'content-type': 'application/connect+proto', 'connect-content-encoding': 'gzip' }
    expect((await send(FOLLOW, headers, envelope(1, cut))).text).to.include('invalid_argument')
  })

  it('allocates nothing for the length that an envelope claims', async () => {
    const before = process.memoryUsage().arrayBuffers
    const claimed = Buffer.from([0, 0xff, 0xff, 0xff, 0xff, 1])
    const { text } = await send(FOLLOW, { 'content-type': 'application/connect+proto' }, claimed)
    expect(text).to.include('invalid_argument')
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(16 * MIB)
  })

  it('refuses 200,000 levels of JSON, and a mebibyte of empty envelopes', async () => {
    const deep = `{"failure":${'{"details":['.repeat(80_000)}`
    expect((await send(CALL, { 'content-type': 'application/json' }, deep)).status).to.equal(400)
    const { text } = await send(FOLLOW, { 'content-type': 'application/connect+proto' }, Buffer.alloc(MIB))
    expect(text).to.include('unimplemented')
  })

  it('refuses headers that are there twice', async () => {
    const json = ['Content-Type: application/json', 'Content-Length: 2']
    for (const [line, words] of [
      ['authorization: Bearer a\r\nauthorization: Bearer b', 'unauthenticated'],
      ['account-id: other', 'account-id is given twice'],
      ['connect-timeout-ms: 1\r\nconnect-timeout-ms: 100000', 'connect-timeout-ms'],
      ['connect-protocol-version: 1\r\nconnect-protocol-version: 2', 'version'],
      ['content-encoding: gzip\r\ncontent-encoding: gzip', 'unimplemented'],
    ] as const)
      expect(await raw(`${head(CALL, ...json, line, 'Connection: close')}{}`)).to.include(words)
  })

  it('refuses a NUL byte and other controls where they mean nothing, and keeps them in text', async () => {
    const json = { 'content-type': 'application/json' }
    expect((await send(CALL, json, '{"delayMs":\u00001}')).status).to.equal(400)
    expect((await send(CALL, json, '{"failure":{"code":9,"message":"a\\u0000b"}}')).text).to.include(
      'a\\u0000b',
    )
    const web = { 'content-type': 'application/grpc-web+proto' }
    const failing = create(CallRequestSchema, { failure: { code: 9, message: 'a\u0000\r\ngrpc-status: 0' } })
    const { text } = await send(CALL, web, envelope(0, toBinary(CallRequestSchema, failing)))
    expect(text.match(/^grpc-status: \d+/gm)).to.have.length.at.most(1)
    expect(text).to.include('grpc-status: 9')
    expect(await raw(head(`${CALL}\u0000`, 'Content-Length: 0', 'Connection: close'))).to.match(
      /^HTTP\/1.1 40[04]/,
    )
    expect((await send(`${CALL}%00`, json, '{}')).status).to.equal(404)
  })

  it('takes a timeout that no timer holds for a long one, and refuses what is no timeout', async () => {
    const ask = (timeout: string) =>
      send(CALL, { 'content-type': 'application/json', 'connect-timeout-ms': timeout }, '{}')
    expect((await ask('9999999999')).status).to.equal(200)
    // A stream has no other limit than the caller's.
    const json = { 'content-type': 'application/connect+json', 'connect-timeout-ms': '9999999999' }
    const { text } = await send(FOLLOW, json, envelope(0, Buffer.from('{"data":[""]}')))
    const left = Number(/"timeLeftMs":"(\d+)"/.exec(text)?.[1])
    expect(left).to.be.within(2 ** 31 - 10_000, 2 ** 31)
    for (const none of ['99999999999', '-1', '1.5', '1e3', 'Infinity', '0x10', ''])
      expect([none, (await ask(none)).status]).to.deep.equal([none, 400])
    expect((await ask('0')).text).to.include('deadline_exceeded')
    const web = { 'content-type': 'application/grpc-web+proto', 'grpc-timeout': '99999999H' }
    expect((await send(CALL, web, envelope(0, Buffer.alloc(0)))).text).to.include('grpc-status: 0')
  })

  it('ends with a request that is half-closed inside of its body', async () => {
    const before = running.records.length
    for (const type of ['application/json', 'application/connect+proto']) {
      const path = type.includes('connect') ? FOLLOW : CALL
      await raw(`${head(path, `Content-Type: ${type}`, 'Content-Length: 100')}{"`, (socket) => socket.end())
    }
    const codes = () => running.records.slice(before).map(({ fields }) => fields['code'])
    await until(() => codes().length === 2)
    expect(codes()).to.deep.equal(['CANCELLED', 'CANCELLED'])
    await isAlive()
  })

  for (const type of ['application/connect+proto', 'application/grpc-web+proto']) {
    const bytes = envelope(0, toBinary(CallRequestSchema, create(CallRequestSchema, { number: -1n })))

    it(`${type}: ends a stream whose client leaves`, async () => {
      const before = running.records.length
      const controller = new AbortController()
      const response = await fetch(`${running.http}${FOLLOW}`, {
        method: 'POST',
        headers: { ...ALICE, 'content-type': type },
        body: new Uint8Array(bytes),
        signal: controller.signal,
      })
      await response.body?.getReader().read()
      controller.abort()
      await until(() => endless.ended === 1 && running.records.length > before)
      const last = running.records.findLast(({ message }) => message === 'rpc')
      expect(last?.fields['code']).to.equal('CANCELLED')
    })

    it(`${type}: waits for a client that does not read, and ends when it leaves`, async () => {
      const { hostname, port } = new URL(running.http)
      const socket = connectTo(Number(port), hostname)
      socket.pause()
      const lines = [`Content-Type: ${type}`, `Content-Length: ${bytes.length}`]
      socket.write(Buffer.concat([Buffer.from(head(FOLLOW, ...lines)), bytes]))
      await until(async () => {
        const { sent } = endless
        await pause(300)
        return sent > 0 && endless.sent === sent
      })
      // 64 KiB each: what the sockets of both sides hold, and no more.
      expect(endless.sent).to.be.below(500)
      socket.destroy()
      await until(() => endless.ended === 1)
    })
  }

  it('ends a unary call whose client leaves', async () => {
    const controller = new AbortController()
    const before = calls
    const asked = fetch(`${running.http}${CALL}`, {
      ...post(ALICE, { delayMs: 60_000 }),
      signal: controller.signal,
    }).catch(() => {})
    await until(() => calls > before)
    controller.abort()
    await asked
    await until(() => running.records.at(-1)?.fields['code'] === 'CANCELLED')
  })
})
