import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Readable, Transform } from 'node:stream'
import { createGunzip, createInflate } from 'node:zlib'
import { Cancelled, InvalidArgument } from '../../errors.js'
import { HttpError } from './http-error.js'
import { type Json, parseJson } from '../json/parse.js'

/** Whether the request carries anything at all. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

/**
 * Reads a body, inflating gzip and deflate.
 * @param limit - bytes, counted after inflation.
 * @throws HttpError 413 over the limit, 415 for another content coding.
 */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const taken = takenByFramework(request)
  if (taken !== undefined) return withinLimit(taken, limit)
  const coding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (coding === 'identity') {
    checkLength(request, limit)
    return collect(request, request, limit)
  }
  const inflate = inflaterOf(coding)
  let read = 0
  request.on('data', (chunk: Buffer) => {
    read += chunk.length
    if (read > limit) inflate.destroy(tooLarge(limit))
  })
  request.pipe(inflate)
  return collect(inflate, request, limit).finally(() => {
    request.unpipe(inflate)
    inflate.destroy()
    request.resume()
  })
}

/** @throws HttpError 413 for a body that says that it is over the limit. */
export function checkLength({ headers }: IncomingMessage, limit: number): void {
  if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge(limit)
}

/** Parses the bytes of a body as JSON; undefined when there are none. */
export function jsonOf(bytes: Buffer): Json | undefined {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw new InvalidArgument('', 'the body is not UTF-8')
  const text = bytes.toString('utf8')
  return parseJson(text.startsWith('\ufeff') ? text.slice(1) : text)
}

const JSON_TYPE = /^application\/(?:json|[a-z0-9!#$&^_.+-]+\+json)$/

/** @throws HttpError 415 for a type that is not JSON, or JSON in another charset than UTF-8. A missing type is JSON. */
export function checkJsonType(contentType: string | undefined): void {
  if (contentType === undefined) return
  const [type = '', ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice(8)
  const isUtf8Text =
    charset === undefined || charset === 'utf-8' || charset === '"utf-8"' || charset === 'utf8'
  if (JSON_TYPE.test(type) && isUtf8Text) return
  throw new HttpError(415, 'INVALID_ARGUMENT', 'the Content-Type must be application/json in UTF-8', {
    accept: 'application/json',
  })
}

function collect(source: Readable, request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    source.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= limit) chunks.push(chunk)
      else reject(tooLarge(limit))
    })
    source.once('end', () =>
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)),
    )
    source.once('error', (cause) => reject(source === request ? new Cancelled(cause) : asFault(cause)))
    request.once('close', () => {
      if (!request.complete) reject(new Cancelled())
    })
  })
}

const asFault = (cause: Error): Error =>
  cause instanceof HttpError
    ? cause
    : new InvalidArgument('', 'the body is not what its Content-Encoding says', cause)

function inflaterOf(coding: string): Transform {
  if (coding === 'gzip' || coding === 'x-gzip') return createGunzip()
  if (coding === 'deflate') return createInflate()
  throw new HttpError(415, 'INVALID_ARGUMENT', 'the Content-Encoding must be gzip, deflate or identity', {
    'accept-encoding': 'gzip, deflate',
  })
}

/** What a body parser of an Express or Fastify around us has read already. */
function takenByFramework(request: IncomingMessage & { readonly body?: unknown }): Buffer | undefined {
  if (!request.readableEnded) return undefined
  const { body } = request
  if (body === undefined) return Buffer.alloc(0)
  if (Buffer.isBuffer(body)) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

function withinLimit(bytes: Buffer, limit: number): Buffer {
  if (bytes.length > limit) throw tooLarge(limit)
  return bytes
}

const tooLarge = (limit: number): HttpError =>
  new HttpError(413, 'RESOURCE_EXHAUSTED', `the body is larger than ${limit} bytes`)
