import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { Caller } from '../../call.js'
import { type AshlarError, Cancelled, InvalidArgument } from '../../errors.js'
import {
  EARLY_BYTES,
  type HeldRequest,
  type UnauthenticatedBytes,
} from '../../bounds/unauthenticated-bytes.js'
import { inflaterOf, notOfItsCoding, tooLarge } from './content-coding.js'
import { awaitsContinue } from './continue.js'
import { Gathered } from './gathered-bytes.js'
import { OwnStatusError } from './own-status-error.js'
import { type Json, parseJson } from '../json/parse.js'

/** Whether the request has a body; of HTTP/2, one that may be empty. */
export const hasBody = ({ headers, httpVersionMajor, stream }: IncomingMessage & Framed): boolean =>
  httpVersionMajor === 2
    ? stream?.endAfterHeaders === false
    : headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

/** What HTTP/2 has instead of `Transfer-Encoding`. */
interface Framed {
  readonly stream?: { readonly endAfterHeaders: boolean }
}

const NOTHING = Buffer.alloc(0)

/**
 * Bytes of a body that nobody reads and that this process takes all the same: what streams and windows hold.
 */
const UNREAD_BYTES = 64 * 1024

/**
 * A body that is read in two steps: the beginning, and the rest after authorization. Inflates gzip, deflate
 * and brotli.
 */
export class Body implements HeldRequest {
  readonly unauthenticated: UnauthenticatedBytes
  held = 0
  isLetIn = false
  older: HeldRequest | undefined
  newer: HeldRequest | undefined
  readonly #request: IncomingMessage
  readonly #limit: number
  readonly #caller: Caller
  #source: Readable | undefined
  #whole: Promise<Buffer> | undefined
  #onMore: (() => void) | undefined
  #fail: ((reason: Error) => void) | undefined

  /**
   * @param limit - bytes, counted before and after inflation.
   * @param caller - of the call, which ends when its body holds too much before it is let in.
   */
  constructor(
    request: IncomingMessage,
    limit: number,
    caller: Caller,
    unauthenticated: UnauthenticatedBytes,
  ) {
    this.unauthenticated = unauthenticated
    this.#request = request
    this.#limit = limit
    this.#caller = caller
  }

  /**
   * The whole of a small body, or of none; undefined when there is more, which the client then has to hold
   * back.
   * @throws OwnStatusError 413 over the limit, 415 for another content coding.
   */
  async beginning(): Promise<Buffer | undefined> {
    const request = this.#request
    const { headers, readableEnded } = request
    const length = lengthOf(request)
    if (length > this.#limit) throw tooLarge(this.#limit)
    if (awaitsContinue(request) || length > EARLY_BYTES || (hasBody(request) && isBrotli(headers))) {
      this.unauthenticated.hold(this, UNREAD_BYTES)
      return undefined
    }
    if (!hasBody(request)) return NOTHING
    // Of a body that says how short it is there is nothing more to come.
    if (length > 0 && headers['content-encoding'] === undefined && !readableEnded)
      return (this.#whole ??= this.#begin())
    const more = new Promise<undefined>((resolve) => (this.#onMore = () => resolve(undefined)))
    const whole = (this.#whole ??= this.#begin())
    whole.catch(() => {})
    const early = await Promise.race([whole, more])
    this.#onMore = undefined
    return early !== undefined && early.length > EARLY_BYTES ? undefined : early
  }

  /** The whole body. @throws as `beginning`. */
  async whole(): Promise<Buffer> {
    checkLength(this.#request, this.#limit)
    this.#source?.resume()
    return (this.#whole ??= this.#begin())
  }

  /**
   * Nothing more of it is read: what is still to come is discarded, so that the client gets to read the
   * response.
   */
  drop(): void {
    this.unauthenticated.letIn(this)
    if (this.#source === undefined) return
    this.#source.removeAllListeners('data')
    if (this.#source !== this.#request) {
      this.#request.unpipe()
      this.#source.destroy()
    }
    this.#request.removeAllListeners('data').resume()
  }

  refuse(reason: AshlarError): void {
    this.#caller.leave(reason)
    this.#fail?.(reason)
    this.#source?.pause().removeAllListeners('data')
  }

  async #begin(): Promise<Buffer> {
    const request = this.#request
    const limit = this.#limit
    if (request.readableEnded) return withinLimit(takenByFramework(request), limit)
    const coding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
    if (coding === 'identity') return this.#collect((this.#source = request))
    const inflate = inflaterOf(coding)
    let read = 0
    // Without a byte there is no body, whatever its coding (RFC 9110 section 6.4).
    const isEmpty = () => read === 0
    request.on('data', (chunk: Buffer) => {
      read += chunk.length
      if (read > limit) inflate.destroy(tooLarge(limit))
    })
    request.pipe(inflate)
    return this.#collect((this.#source = inflate), isEmpty).finally(() => {
      request.unpipe(inflate)
      inflate.destroy()
      request.resume()
    })
  }

  #collect(source: Readable, isEmpty = () => false): Promise<Buffer> {
    const request = this.#request
    let first: Buffer | undefined
    let gathered: Gathered | undefined
    return new Promise((resolve, reject) => {
      this.#fail = reject
      let length = 0
      source.on('data', (chunk: Buffer) => {
        length += chunk.length
        if (length > this.#limit) return reject(tooLarge(this.#limit))
        if (first === undefined) first = Buffer.from(chunk)
        else (gathered ??= Gathered.of(first)).add(chunk)
        const isMore = length > EARLY_BYTES && this.#onMore !== undefined
        const memory = (gathered?.capacity ?? length) + (isMore ? UNREAD_BYTES : 0)
        this.unauthenticated.hold(this, memory)
        if (!isMore) return
        source.pause()
        this.#onMore?.()
      })
      source.once('end', () => resolve(gathered?.take(length) ?? first ?? NOTHING))
      source.once('error', (cause) => {
        if (isEmpty()) resolve(NOTHING)
        else reject(source === request ? new Cancelled(cause) : asFault(cause))
      })
      request.once('close', () => {
        if (!request.complete) reject(new Cancelled())
      })
    })
  }
}

/** Its decoder fills a window of up to 16 MiB before it returns a byte, so that a few bytes cost much. */
const isBrotli = (headers: IncomingMessage['headers']): boolean =>
  headers['content-encoding']?.trim().toLowerCase() === 'br'

/** @throws OwnStatusError 413 for a body whose Content-Length is over the limit. */
export function checkLength(request: IncomingMessage, limit: number): void {
  if (lengthOf(request) > limit) throw tooLarge(limit)
}

/** The Content-Length. */
const lengthOf = ({ headers }: IncomingMessage): number => Number(headers['content-length'] ?? 0)

/** Parses the bytes of a body as JSON; undefined when there are none. */
export function jsonOf(bytes: Buffer): Json | undefined {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw new InvalidArgument('', 'the body is not UTF-8')
  const text = bytes.toString('utf8')
  return parseJson(text.startsWith('\ufeff') ? text.slice(1) : text)
}

const JSON_TYPE = /^application\/(?:json|[a-z0-9!#$&^_.+-]+\+json)$/

/**
 * @throws OwnStatusError 415 for a type that is not JSON, or JSON in another charset than UTF-8. A missing
 * type is JSON, an empty one is not.
 */
export function checkJsonType(contentType: string | undefined): void {
  if (contentType === undefined || contentType === 'application/json') return
  const [type = '', ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice(8)
  const isUtf8Text =
    charset === undefined || charset === 'utf-8' || charset === '"utf-8"' || charset === 'utf8'
  if (JSON_TYPE.test(type) && isUtf8Text) return
  throw new OwnStatusError(415, 'INVALID_ARGUMENT', 'the Content-Type must be application/json in UTF-8', {
    accept: 'application/json',
  })
}

const asFault = (cause: Error): Error => (cause instanceof OwnStatusError ? cause : notOfItsCoding(cause))

/** The body as a parser of the surrounding Express or Fastify application has read it. */
function takenByFramework({ body }: IncomingMessage & { readonly body?: unknown }): Buffer {
  if (body === undefined) return Buffer.alloc(0)
  if (Buffer.isBuffer(body)) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

function withinLimit(bytes: Buffer, limit: number): Buffer {
  if (bytes.length > limit) throw tooLarge(limit)
  return bytes
}
