import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants, gunzip, gzip, inflate } from 'node:zlib'
import { atMost } from '../../bounds/at-most.js'
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
const inflateZlib: Inflate = (bytes, limit) => bounded((options) => inflates(bytes, options), limit)
const inflateBrotli: Inflate = (bytes, limit) => bounded((options) => unbrotlis(bytes, options), limit)

/** The compressions that the gRPC listener accepts, as announced by grpc-js. */
export const GRPC_CODINGS: ReadonlyMap<string, Inflate> = new Map([
  ['gzip', inflateGzip],
  ['deflate', inflateZlib],
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
    inflate: inflateBrotli,
  },
]

/** The codings of bodies over HTTP, as a Content-Encoding names them. */
const BODY_CODINGS: ReadonlyMap<string, Inflate> = new Map([
  ['gzip', inflateGzip],
  ['x-gzip', inflateGzip],
  ['deflate', inflateZlib],
  ['br', inflateBrotli],
])

/**
 * Turns to inflate, one queue per process. Each one takes a thread of the pool, and as much memory as it may
 * come to: of brotli, a window of up to 16 MiB besides.
 */
const inflations = atMost(4)

const bounded = async (
  inflate: (options: { maxOutputLength: number }) => Promise<Buffer>,
  limit: number,
): Promise<Uint8Array<ArrayBuffer>> => {
  try {
    return (await inflations(() => inflate({ maxOutputLength: limit }))) as Buffer<ArrayBuffer>
  } catch (error) {
    throw (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE'
      ? tooLarge(limit)
      : notOfItsCoding(error)
  }
}

/** Inflates a body. @throws OwnStatusError 415 for an unknown coding, and as `Inflate`. */
export const inflateBody = async (
  coding: string,
  bytes: Uint8Array,
  limit: number,
): Promise<Buffer<ArrayBuffer>> => {
  const known = BODY_CODINGS.get(coding)
  if (known === undefined) throw unknownCoding()
  return (await known(bytes, limit)) as Buffer<ArrayBuffer>
}

const unknownCoding = (): OwnStatusError =>
  new OwnStatusError(415, 'INVALID_ARGUMENT', 'the Content-Encoding must be gzip, deflate, br or identity', {
    'accept-encoding': 'gzip, deflate, br',
  })

export const tooLarge = (limit: number): OwnStatusError =>
  new OwnStatusError(413, 'RESOURCE_EXHAUSTED', `the body is larger than ${limit} bytes`)

export const notOfItsCoding = (cause: unknown): InvalidArgument =>
  new InvalidArgument('', 'the body does not match its Content-Encoding', cause)
