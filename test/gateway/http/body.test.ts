import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { Caller } from '../../../lib/call.js'
import { Body } from '../../../lib/gateway/http/body.js'
import { UnauthenticatedBytes } from '../../../lib/bounds/unauthenticated-bytes.js'

describe('the body of a request', () => {
  const bodyOf = (coding: string | undefined, bytes: Buffer) => {
    const request = Object.assign(new PassThrough(), {
      complete: true,
      headers: {
        'content-length': String(bytes.length),
        ...(coding !== undefined && { 'content-encoding': coding }),
      },
    })
    request.end(bytes)
    const body = new Body(
      request as unknown as IncomingMessage,
      1_000_000,
      new Caller(),
      new UnauthenticatedBytes(1_000_000),
    )
    return { body, request }
  }
  const text = Buffer.from('{"text":"x"}')

  it('is read as a whole before its call is let in, where it is small', async () => {
    for (const [coding, bytes] of [
      [undefined, text],
      ['gzip', gzipSync(text)],
    ] as const)
      expect((await bodyOf(coding, bytes).body.beginning())?.toString(), coding).to.equal(text.toString())
  })

  for (const coding of ['br', ' BR '])
    it(`is not given to the decoder of ${JSON.stringify(coding)} before, however small: its window is large`, async () => {
      const { body, request } = bodyOf(coding, brotliCompressSync(text))
      expect(await body.beginning()).to.equal(undefined)
      expect(request.readableFlowing).to.equal(null)
      expect((await body.whole()).toString()).to.equal(text.toString())
    })
})
