import { promisify } from 'node:util'
import { brotliCompress, deflate, gzip } from 'node:zlib'
import { BROTLI } from './content-coding.js'

const brotlis = promisify<string | Uint8Array, object, Buffer>(brotliCompress)

/**
 * The compressors of responses, by the name of the coding (RFC 9110 section 8.4.1), in order of preference.
 */
const COMPRESSORS = {
  br: (body: string | Uint8Array) => brotlis(body, BROTLI),
  gzip: promisify<string | Uint8Array, Buffer>(gzip),
  deflate: promisify<string | Uint8Array, Buffer>(deflate),
} as const

/** A coding that a response can have. */
export type ResponseCoding = keyof typeof COMPRESSORS

/** The body in the coding. */
export const compress = (coding: ResponseCoding, body: string | Uint8Array): Promise<Uint8Array> =>
  COMPRESSORS[coding](body)

/**
 * The best coding that an Accept-Encoding allows (RFC 9110 section 12.5.3); undefined for none. `*` does not
 * ask for Brotli, which not every client that sends it can read.
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

/** The weight of each name; 0 forbids. */
function weightsIn(accept: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const item of accept.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    weights.set(name, weight === undefined ? 1 : Number(weight.slice(2)) || 0)
  }
  return weights
}
