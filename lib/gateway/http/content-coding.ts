import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants, gunzip, gzip, inflate } from 'node:zlib'
import { atMost } from '../../bounds/at-most.js'
import { OwnStatusError } from './own-status-error.js'
import { InvalidArgument } from '../../errors.js'

/**
 * Decompresses bytes.
 * @throws OwnStatusError 413 for more than `limit` bytes, InvalidArgument for invalid data.
 */
export type Inflate = (bytes: Uint8Array, limit: number) => Promise<Uint8Array<ArrayBuffer>>

/** A compression of whole messages, named as in RFC 9110. */
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

/** A higher brotli quality takes more time than the saved bytes take to transmit. */
export const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } } as const

const inflateGzip: Inflate = (bytes, limit) => bounded((options) => gunzips(bytes, options), limit)
const inflateZlib: Inflate = (bytes, limit) => bounded((options) => inflates(bytes, options), limit)
const inflateBrotli: Inflate = (bytes, limit) => bounded((options) => unbrotlis(bytes, options), limit)

/** The compressions of the gRPC listener. grpc-js announces them. */
export const GRPC_CODINGS: ReadonlyMap<string, Inflate> = new Map([
  ['gzip', inflateGzip],
  ['deflate', inflateZlib],
])

/** The compressions of messages over HTTP. */
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

/** The compressions of HTTP bodies, by their name in Content-Encoding. */
const BODY_CODINGS: ReadonlyMap<string, Inflate> = new Map([
  ['gzip', inflateGzip],
  ['x-gzip', inflateGzip],
  ['deflate', inflateZlib],
  ['br', inflateBrotli],
])

/**
 * Limits the number of concurrent decompressions in the process. Each one occupies a thread of the pool and
 * memory for its result, and brotli needs a window of up to 16 MiB in addition.
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

/**
 * Decompresses a body.
 * @throws OwnStatusError 415 for an unknown coding, and the errors of `Inflate`.
 */
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
