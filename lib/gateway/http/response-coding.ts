import { promisify } from 'node:util'
import { brotliCompress, deflate, gzip } from 'node:zlib'
import { BROTLI } from './content-coding.js'

const brotlis = promisify<string | Uint8Array, object, Buffer>(brotliCompress)

/** The response compressions by name (RFC 9110 section 8.4.1), in order of preference. */
const COMPRESSORS = {
  br: (body: string | Uint8Array) => brotlis(body, BROTLI),
  gzip: promisify<string | Uint8Array, Buffer>(gzip),
  deflate: promisify<string | Uint8Array, Buffer>(deflate),
} as const

/** The name of a response compression. */
export type ResponseCoding = keyof typeof COMPRESSORS

/** Compresses a body. */
export const compress = (coding: ResponseCoding, body: string | Uint8Array): Promise<Uint8Array> =>
  COMPRESSORS[coding](body)

/**
 * Returns the best compression that an Accept-Encoding allows (RFC 9110 section 12.5.3); undefined if there
 * is none. `*` does not select brotli, which not every client that sends `*` can read.
 * @example `gzip, br` is `br`, and `br;q=0.5, gzip` is `gzip`.
 */
export function preferredCoding(accept: string | undefined): ResponseCoding | undefined {
  if (accept === undefined || accept === '') return undefined
  const weights = weightsIn(accept)
  const others = weights.get('*') ?? 0
  const weigh: Readonly<Record<ResponseCoding, number>> = {
    br: weights.get('br') ?? 0,
    gzip: Math.max(weights.get('gzip') ?? others, weights.get('x-gzip') ?? 0),
    deflate: weights.get('deflate') ?? others,
  }
  const most = Math.max(...Object.values(weigh))
  if (most === 0 || most < (weights.get('identity') ?? 0)) return undefined
  return (Object.keys(weigh) as ResponseCoding[]).find((coding) => weigh[coding] === most)
}

/** Returns the weight of each name. A weight of 0 forbids it. */
function weightsIn(accept: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const item of accept.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    weights.set(name, weight === undefined ? 1 : Number(weight.slice(2)) || 0)
  }
  return weights
}
