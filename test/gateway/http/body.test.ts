import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { Caller } from '../../../lib/call.js'
import { Body } from '../../../lib/gateway/http/body.js'
import { UnauthenticatedBytes } from '../../../lib/bounds/unauthenticated-bytes.js'

describe('the body of a request', () => {
  const bodyOf = (coding: string | undefined, bytes: Buffer, headers = {}, isWhole = true) => {
    const request = Object.assign(new PassThrough(), {
      ...{ complete: true, socket: {} },
      headers: {
        'content-length': String(bytes.length),
        ...(coding !== undefined && { 'content-encoding': coding }),
        ...headers,
      },
    })
    if (isWhole) request.end(bytes)
    const all = new UnauthenticatedBytes(1_000_000)
    const body = new Body(request as unknown as IncomingMessage, 1_000_000, new Caller(), all)
    return { body, request, all }
  }
  const text = Buffer.from('{"text":"x"}')

  it('is read as a whole before its call is let in, where it is small', async () => {
    expect((await bodyOf(undefined, text).body.beginning())?.toString()).to.equal(text.toString())
  })

  for (const [coding, compress] of [
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    [' BR ', brotliCompressSync],
  ] as const)
    it(`is not given to the decoder of ${JSON.stringify(coding)} before, however small`, async () => {
      const { body, all } = bodyOf(coding, compress(text))
      expect(await body.beginning()).to.equal(undefined)
      expect((await body.whole()).toString()).to.equal(text.toString())
      expect(all.held).to.equal(compress(text).length + text.length)
      body.drop()
      expect(all.held).to.equal(0)
    })

  it('counts with what has come of it, and not with what may come', async () => {
    const { body, request, all } = bodyOf(undefined, Buffer.alloc(0), { 'content-length': '900000' }, false)
    expect([await body.beginning(), all.held]).to.deep.equal([undefined, 0])
    request.write(Buffer.alloc(1_000))
    await turn()
    expect(all.held).to.equal(1_000)
    for (let n = 0; n < 40; n++) request.write(Buffer.alloc(10_000))
    await turn()
    // What is read, and what streams and windows hold beside it.
    expect([request.isPaused(), all.held <= 4 * 64 * 1024]).to.deep.equal([true, true])
    body.drop()
  })

  it('is inflated by four decoders at a time, whoever asks, in the order in which it came', async () => {
    const ended: number[] = []
    const large = gzipSync(Buffer.alloc(900_000))
    const all = [...Array.from({ length: 8 }, () => large), gzipSync(text)].map(async (bytes, at) => {
      await bodyOf('gzip', bytes).body.whole()
      ended.push(at)
    })
    await Promise.all(all)
    // The small one has its turn when five of the others have had theirs.
    expect(ended.indexOf(8)).to.be.at.least(5)
  })
})
