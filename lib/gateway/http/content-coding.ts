import { promisify } from 'node:util'
import {
  brotliCompress,
  brotliDecompress,
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  gunzip,
  gzip,
  inflate,
} from 'node:zlib'
import { Transform } from 'node:stream'
import { OwnStatusError } from './own-status-error.js'
import { InvalidArgument } from '../../errors.js'

/** @throws OwnStatusError 413 for more than `limit` bytes, InvalidArgument for what is not of this coding. */
export type Inflate = (bytes: Uint8Array, limit: number) => Promise<Uint8Array<ArrayBuffer>>

/** A way to compress whole messages, named as in RFC 9110. */
export interface ContentCoding {
  readonly name: string
  readonly compress: (bytes: Uint8Array) => Promise<Uint8Array<ArrayBuffer>>
  readonly inflate: Inflate
}

const gzips = promisify(gzip)
const gunzips = promisify(gunzip)
const brotlis = promisify<Uint8Array, object, Buffer<ArrayBuffer>>(brotliCompress)
const inflates = promisify(inflate)
const unbrotlis = promisify<Uint8Array, object, Buffer<ArrayBuffer>>(brotliDecompress)

/** Brotli of a higher quality takes longer than the bytes that it saves take to travel. */
export const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } } as const

const inflateGzip: Inflate = (bytes, limit) => bounded((options) => gunzips(bytes, options), limit)

/** How the gRPC listener reads compressed messages: the codings that grpc-js says it accepts. */
export const GRPC_CODINGS: ReadonlyMap<string, Inflate> = new Map([
  ['gzip', inflateGzip],
  ['deflate', (bytes, limit) => bounded((options) => inflates(bytes, options), limit)],
])

/** The codings of messages over HTTP. */
export const CONTENT_CODINGS: readonly ContentCoding[] = [
  {
    name: 'gzip',
    compress: (bytes) => gzips(bytes) as Promise<Buffer<ArrayBuffer>>,
    inflate: inflateGzip,
  },
  {
    name: 'br',
    compress: (bytes) => brotlis(bytes, BROTLI),
    inflate: (bytes, limit) => bounded((options) => unbrotlis(bytes, options), limit),
  },
]

const bounded = async (
  inflate: (options: { maxOutputLength: number }) => Promise<Buffer>,
  limit: number,
): Promise<Uint8Array<ArrayBuffer>> => {
  try {
    return (await inflate({ maxOutputLength: limit })) as Buffer<ArrayBuffer>
  } catch (error) {
    throw (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE'
      ? tooLarge(limit)
      : notOfItsCoding(error)
  }
}

/**
 * Inflates a body as it arrives. That of an unknown coding fails with the first byte, as OwnStatusError 415.
 */
export function inflaterOf(coding: string): Transform {
  if (coding === 'gzip' || coding === 'x-gzip') return createGunzip()
  if (coding === 'deflate') return createInflate()
  if (coding === 'br') return createBrotliDecompress()
  return new Transform({ transform: (_chunk, _encoding, done) => done(unknownCoding()) })
}

const unknownCoding = (): OwnStatusError =>
  new OwnStatusError(415, 'INVALID_ARGUMENT', 'the Content-Encoding must be gzip, deflate, br or identity', {
    'accept-encoding': 'gzip, deflate, br',
  })

export const tooLarge = (limit: number): OwnStatusError =>
  new OwnStatusError(413, 'RESOURCE_EXHAUSTED', `the body is larger than ${limit} bytes`)

export const notOfItsCoding = (cause: unknown): InvalidArgument =>
  new InvalidArgument('', 'the body is not what its Content-Encoding says', cause)
